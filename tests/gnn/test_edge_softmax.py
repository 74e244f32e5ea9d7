import math

import pytest
import torch

from statgraph.gnn.edge_softmax import edge_softmax


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values).unsqueeze(1)


def test_worked_by_hand():
    # Node 0: itself e^0 = 1, edges 2 and 3 of weight, sum 6. Node 1: itself 4, one edge 1, sum 5.
    edge_weights, own_weights = edge_softmax(
        column(math.log(2), math.log(1), math.log(3)), column(0.0, math.log(4)), torch.tensor([0, 1, 0])
    )
    assert edge_weights.flatten().tolist() == pytest.approx([2 / 6, 1 / 5, 3 / 6])
    assert own_weights.flatten().tolist() == pytest.approx([1 / 6, 4 / 5])


def test_heads_do_not_mix():
    edge_logits = torch.tensor([[0.0, math.log(3)]])
    own_logits = torch.zeros(1, 2)
    edge_weights, own_weights = edge_softmax(edge_logits, own_logits, torch.tensor([0]))
    assert edge_weights.tolist() == [pytest.approx([0.5, 0.75])]
    assert own_weights.tolist() == [pytest.approx([0.5, 0.25])]


def test_equal_edges_count_each():
    edge_weights, own_weights = edge_softmax(torch.zeros(4, 1), torch.zeros(1, 1), torch.zeros(4, dtype=torch.int64))
    assert edge_weights.flatten().tolist() == pytest.approx([0.2] * 4)
    assert own_weights.item() == pytest.approx(0.2)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_weights_sum_to_one(scale):
    torch.manual_seed(0)
    targets = torch.randint(0, 20, (200,))
    edge_weights, own_weights = edge_softmax(scale * torch.randn(200, 4), scale * torch.randn(20, 4), targets)
    total = own_weights.index_add(0, targets, edge_weights)
    assert torch.allclose(total, torch.ones(20, 4), atol=1e-6)


@pytest.mark.parametrize("peak", [1e4, -1e4])
def test_large_logits_stay_in_range(peak):
    # Beside equals a large logit is as good as none; 1e4 below the peak nothing is left.
    edge_weights, own_weights = edge_softmax(column(peak, peak, -2e4), column(peak, peak), torch.tensor([0, 0, 1]))
    assert edge_weights.flatten().tolist() == pytest.approx([1 / 3, 1 / 3, 0])
    assert own_weights.flatten().tolist() == pytest.approx([1 / 3, 1])


@pytest.mark.parametrize("peak", [1e4, -1e4])
def test_gradients_of_large_logits_are_finite(peak):
    edge_logits = column(peak, 0.0, -peak).requires_grad_()
    own_logits = column(0.0, peak).requires_grad_()
    edge_weights, own_weights = edge_softmax(edge_logits, own_logits, torch.tensor([0, 0, 1]))
    (edge_weights.square().sum() + own_weights.square().sum()).backward()
    assert torch.isfinite(edge_logits.grad).all()
    assert torch.isfinite(own_logits.grad).all()


def test_a_node_without_edges_has_the_weight_one():
    _, own_weights = edge_softmax(column(5.0), column(1.0, -1e4, 1e4), torch.tensor([0]))
    assert own_weights[1:].flatten().tolist() == [1.0, 1.0]


def test_no_edges_at_all():
    edge_weights, own_weights = edge_softmax(torch.empty(0, 3), torch.randn(2, 3), torch.empty(0, dtype=torch.int64))
    assert edge_weights.shape == (0, 3)
    assert own_weights.equal(torch.ones(2, 3))


def test_a_constant_on_a_nodes_logits_cancels():
    torch.manual_seed(0)
    edge_logits, own_logits, targets = torch.randn(9, 2), torch.randn(3, 2), torch.randint(0, 3, (9,))
    shift = torch.randn(3, 2)
    plain = edge_softmax(edge_logits, own_logits, targets)
    shifted = edge_softmax(edge_logits + shift[targets], own_logits + shift, targets)
    assert all(torch.allclose(*both, atol=1e-6) for both in zip(plain, shifted, strict=True))


def test_gradients():
    torch.manual_seed(0)
    targets = torch.tensor([0, 2, 0, 0, 2])
    logits = [torch.randn(rows, 2, dtype=torch.float64, requires_grad=True) for rows in (5, 3)]
    assert torch.autograd.gradcheck(lambda edge, own: edge_softmax(edge, own, targets), logits)


def test_arguments_stay_as_they_were():
    edge_logits, own_logits = column(1.0, 2.0), column(3.0)
    edge_softmax(edge_logits, own_logits, torch.tensor([0, 0]))
    assert (edge_logits.flatten().tolist(), own_logits.flatten().tolist()) == ([1.0, 2.0], [3.0])
