import pytest
import torch
from torch import nn
from torch.nn.functional import dropout, scaled_dot_product_attention

from statgraph.encoders import cheap_dropout as module
from statgraph.encoders.cheap_dropout import CheapDropout


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def attended():
    """Return query, key and value (texts 2, heads 2, tokens 3, width 4) with gradients."""
    return [torch.randn(2, 2, 3, 4, requires_grad=True) for _ in range(3)]


def test_the_same_seed_leaves_out_the_same():
    values = torch.ones(5, 7)
    with CheapDropout():
        torch.manual_seed(4)
        first = dropout(values, 0.3)
        torch.manual_seed(4)
        second, third = dropout(values, 0.3), dropout(values, 0.3)
    assert torch.equal(first, second)
    assert not torch.equal(first, third)


def test_dropout_and_its_gradient_are_scaled_alike():
    values = torch.ones(100, requires_grad=True)
    with CheapDropout():
        result = nn.Dropout(0.5)(values)
    result.sum().backward()
    assert set(result.tolist()) == {0.0, 2.0}
    assert torch.equal(values.grad, result)


@pytest.mark.parametrize(("p", "training", "expected"), [(0.5, False, 1.0), (0.0, True, 1.0), (1.0, True, 0.0)])
def test_dropout_of_nothing_and_of_all_is_torchs(p, training, expected):
    with CheapDropout():
        assert dropout(torch.ones(3), p, training).tolist() == [expected] * 3


MASKS = {
    "none": None,
    "which tokens": torch.tensor([[True, True, False], [True, True, True]]).reshape(2, 1, 1, 3).expand(2, 1, 3, 3),
    "added": torch.tensor([0.0, -1.0, 2.0]).expand(2, 1, 3, 3),
}


@pytest.mark.parametrize("name", MASKS)
def test_attention_where_nothing_falls_out_is_torchs(attended, monkeypatch, name):
    whole = lambda shape, share, dtype: (torch.ones(shape, dtype=dtype), 1.0)  # noqa: E731
    monkeypatch.setattr(module, "kept", whole)
    with CheapDropout():
        found = scaled_dot_product_attention(*attended, attn_mask=MASKS[name], dropout_p=0.1, scale=0.7)
    expected = scaled_dot_product_attention(*attended, attn_mask=MASKS[name], scale=0.7)
    torch.testing.assert_close(found, expected)
    along = torch.randn_like(expected)
    torch.testing.assert_close(
        torch.autograd.grad(found, attended, along), torch.autograd.grad(expected, attended, along)
    )


def test_attention_leaves_out_weights_after_the_softmax(attended, monkeypatch):
    mask = torch.tensor([[1.0, 0, 1], [1, 1, 0], [0, 1, 1]]).expand(2, 2, 3, 3)
    monkeypatch.setattr(module, "kept", lambda shape, share, dtype: (mask, 1.5))
    query, key, value = attended
    with CheapDropout():
        found = scaled_dot_product_attention(query, key, value, dropout_p=1 / 3)
    weights = torch.softmax(query @ key.transpose(-1, -2) / 2, dim=-1)  # the root of width 4
    expected = (1.5 * weights * mask) @ value
    torch.testing.assert_close(found, expected)
    along = torch.randn_like(expected)
    torch.testing.assert_close(
        torch.autograd.grad(found, attended, along), torch.autograd.grad(expected, attended, along)
    )


def test_attention_in_bfloat16_stays_near_float32(attended, monkeypatch):
    monkeypatch.setattr(module, "kept", lambda shape, share, dtype: (torch.ones(shape, dtype=dtype), 1.0))
    halves = [tensor.detach().bfloat16().requires_grad_() for tensor in attended]
    with CheapDropout(), torch.autocast("cpu", dtype=torch.bfloat16):
        found = scaled_dot_product_attention(*halves, dropout_p=0.1)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), scaled_dot_product_attention(*attended), atol=0.03, rtol=0)
    assert [gradient.dtype for gradient in torch.autograd.grad(found.sum(), halves)] == [torch.bfloat16] * 3


def test_attention_without_dropout_and_causal_attention_are_left_to_torch(attended, monkeypatch):
    monkeypatch.setattr(module, "_attention", lambda *inputs, **how: pytest.fail("computed here"))
    with CheapDropout():
        scaled_dot_product_attention(*attended)
        scaled_dot_product_attention(*attended, dropout_p=0.5, is_causal=True)
        scaled_dot_product_attention(*attended, MASKS["none"], dropout_p=0.5)  # a mask by its place


def test_nothing_changes_where_it_is_not_entered(attended, monkeypatch):
    monkeypatch.setattr(module, "_attention", lambda *inputs, **how: pytest.fail("computed here"))
    with CheapDropout():
        pass
    scaled_dot_product_attention(*attended, dropout_p=0.5)
