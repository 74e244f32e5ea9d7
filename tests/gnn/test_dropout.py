import pytest
import torch

from statgraph.gnn.dropout import dropout


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (400, 64)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_what_stays_is_scaled_up(shape, dtype):
    torch.manual_seed(1)
    vectors = torch.full(shape, 3.0, dtype=dtype)
    left = dropout(vectors, 0.25, training=True)
    assert (left.shape, left.dtype) == (shape, dtype)
    assert set(left.unique().tolist()) <= {0.0, 4.0}


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_so_many_are_left_out_in_every_lane(chance):
    torch.manual_seed(2)
    out = dropout(torch.ones(40_000, 4), chance, training=True) == 0
    # The share of 40,000 has a standard deviation of at most 0.0025.
    assert out.double().mean(dim=0).tolist() == pytest.approx([chance] * 4, abs=0.012)
    # Neighbours fall out independently of each other.
    both = (out[:, :3] & out[:, 1:]).double().mean(dim=0)
    assert both.tolist() == pytest.approx([chance**2] * 3, abs=0.012)


def test_the_gradient_goes_through_what_stays():
    torch.manual_seed(3)
    vectors = torch.ones(10, 10, requires_grad=True)
    left = dropout(vectors, 0.5, training=True)
    left.sum().backward()
    assert vectors.grad.equal(left.detach())


def test_a_seed_decides_and_nothing_else():
    drawn = []
    for seed in (4, 4, 5):
        torch.manual_seed(seed)
        drawn.append(dropout(torch.ones(20, 20), 0.5, training=True))
    assert drawn[0].equal(drawn[1])
    assert not drawn[0].equal(drawn[2])


@pytest.mark.parametrize(("chance", "training"), [(0.5, False), (0.0, True)])
def test_otherwise_nothing_is_changed(chance, training):
    vectors = torch.randn(5, 5)
    assert dropout(vectors, chance, training=training).equal(vectors)
