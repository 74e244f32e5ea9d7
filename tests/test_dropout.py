from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from statgraph import dropout as module
from statgraph.dropout import CheapDropout, dropout, kept


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_as_many_are_left_out_as_asked_for(share):
    mask, factor = kept(torch.Size((400, 1001)), share, torch.float32)
    assert set(mask.unique().tolist()) == {0.0, 1.0}
    assert mask.mean().item() == pytest.approx(1 - share, abs=0.004)  # five standard deviations
    assert factor == pytest.approx(1 / (1 - share), rel=1e-4)
    assert mask.view(-1)[: 4 * 100_000].view(-1, 4).mean(dim=0).tolist() == pytest.approx([1 - share] * 4, abs=0.008)


def test_a_number_decides_four_places(monkeypatch):
    drawn = torch.tensor([-32768, 32767, -26214, -26215], dtype=torch.int16).view(torch.int64)  # 0.1: 6554 of 65536
    monkeypatch.setattr(torch.Tensor, "random_", lambda numbers, *bounds: numbers.copy_(drawn))
    mask, factor = kept(torch.Size((4,)), 0.1, torch.bfloat16)
    assert mask.tolist() == [0, 1, 1, 0]
    assert mask.dtype == torch.bfloat16
    assert factor == 65536 / (65536 - 6554)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (400, 64)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_what_stays_is_scaled_up(shape, dtype):
    left = dropout(torch.full(shape, 3.0, dtype=dtype), 0.25)
    assert (left.shape, left.dtype) == (shape, dtype)
    assert set(left.unique().tolist()) <= {0.0, 4.0}


def test_neighbours_fall_out_independently():
    out = dropout(torch.ones(40_000, 4), 0.5) == 0
    both = (out[:, :3] & out[:, 1:]).double().mean(dim=0)
    assert both.tolist() == pytest.approx([0.25] * 3, abs=0.012)  # five standard deviations


def test_the_gradient_goes_through_what_stays():
    values = torch.ones(10, 10, requires_grad=True)
    left = dropout(values, 0.5)
    left.sum().backward()
    assert values.grad.equal(left.detach())


def test_a_seed_decides_and_nothing_else():
    drawn = []
    for seed in (4, 4, 5):
        torch.manual_seed(seed)
        drawn.append(dropout(torch.ones(20, 20), 0.5))
    assert drawn[0].equal(drawn[1])
    assert not drawn[0].equal(drawn[2])


@pytest.mark.parametrize(("share", "training", "expected"), [(0.5, False, 1.0), (0.0, True, 1.0), (1.0, True, 0.0)])
def test_nothing_and_all(share, training, expected):
    assert dropout(torch.ones(5, 5), share, training).unique().tolist() == [expected]


def test_a_share_that_rounds_to_all_still_has_a_factor():
    mask, factor = kept(torch.Size((100,)), 1 - 1e-9, torch.float32)
    assert factor == 65536
    assert mask.sum() <= 1


@pytest.fixture
def attended():
    """Return query, key and value (texts 2, heads 2, tokens 3, width 4) with gradients."""
    return [torch.randn(2, 2, 3, 4, requires_grad=True) for _ in range(3)]


def same_with_gradients(found, expected, inputs) -> None:
    torch.testing.assert_close(found, expected)
    along = torch.randn_like(expected)
    torch.testing.assert_close(torch.autograd.grad(found, inputs, along), torch.autograd.grad(expected, inputs, along))


@pytest.mark.parametrize("entered", [True, False])
def test_only_where_it_is_entered_torchs_dropout_is_this_one(entered):
    values = torch.ones(40, 40)
    with CheapDropout() if entered else nullcontext():
        torch.manual_seed(4)
        found = nn.Dropout(0.3)(values)
    torch.manual_seed(4)
    assert torch.equal(found, dropout(values, 0.3)) == entered


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
    same_with_gradients(found, scaled_dot_product_attention(*attended, attn_mask=MASKS[name], scale=0.7), attended)


def test_attention_leaves_out_weights_after_the_softmax(attended, monkeypatch):
    mask = torch.tensor([[1.0, 0, 1], [1, 1, 0], [0, 1, 1]]).expand(2, 2, 3, 3)
    monkeypatch.setattr(module, "kept", lambda shape, share, dtype: (mask, 1.5))
    query, key, value = attended
    with CheapDropout():
        found = scaled_dot_product_attention(query, key, value, dropout_p=1 / 3)
    weights = torch.softmax(query @ key.transpose(-1, -2) / 2, dim=-1)  # the root of width 4
    same_with_gradients(found, (1.5 * weights * mask) @ value, attended)


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
