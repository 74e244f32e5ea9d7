import math

import pytest
import torch

from statgraph.errors import UsageError
from statgraph.gnn.message_passing import (
    attend,
    by_head,
    edge_softmax,
    head_width_of,
    identity_projection,
    leaky_scalars,
    neighbour_sum,
)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.0])
def test_it_starts_as_the_scaled_identity(scale):
    vectors = torch.tensor([[1.0, -2.0, 3.0]])
    assert identity_projection(3, scale=scale)(vectors).tolist() == [[scale, -2 * scale, 3 * scale]]


def test_without_a_scale_it_is_the_identity_and_learns():
    projection = identity_projection(2)
    vectors = torch.tensor([[1.0, 2.0]])
    assert projection(vectors).equal(vectors)
    projection(vectors).sum().backward()
    assert projection.weight.grad.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert projection.bias is None


def test_a_sum_worked_by_hand(block_of):
    # Output 0 is input 2; it gets input 0 twice and input 1 once. Output 1 is input 0 and gets nothing.
    block = block_of([(0, 0, 0), (1, 0, 0), (0, 0, 1)], n_inputs=3, own_inputs=[2, 0])
    nodes = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert neighbour_sum(nodes, block).tolist() == [[4.0, 40.0], [0.0, 0.0]]


def test_no_nodes(block_of):
    assert neighbour_sum(torch.empty(0, 3), block_of([], n_inputs=0)).shape == (0, 3)


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values).unsqueeze(1)


def test_a_softmax_worked_by_hand():
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


@pytest.mark.parametrize(("width", "n_heads", "head_width"), [(8, 1, 8), (8, 2, 4), (8, 8, 1)])
def test_heads_share_the_width(width, n_heads, head_width):
    assert head_width_of(width, n_heads) == head_width


@pytest.mark.parametrize(("width", "n_heads"), [(10, 3), (4, 8), (8, 0), (8, -2)])
def test_heads_that_do_not_divide_the_width_are_refused(width, n_heads):
    with pytest.raises(UsageError) as refused:
        head_width_of(width, n_heads)
    assert str(refused.value) == f"gnn.heads: must divide the width {width} (got {n_heads})"


def test_a_head_is_a_run_of_components():
    assert by_head(torch.arange(8).view(2, 4), 2).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert by_head(torch.empty(0, 4), 2).shape == (0, 2, 2)


def test_a_scalar_for_each_head():
    # Head 0: 1 * 5 + 0.2 * -2 * 10 = 1. Head 1: 0.2 * -1 * 5 + 3 * 2 = 5.
    vectors = torch.tensor([[[1.0, -2.0], [-1.0, 3.0]]])
    attention = torch.tensor([[5.0, 10.0], [5.0, 2.0]])
    assert leaky_scalars(vectors, attention).tolist() == [[pytest.approx(1.0), pytest.approx(5.0)]]


def test_attend_worked_by_hand():
    # Two heads of one component. Node 0 gets one edge: in head 0 it weighs 3 to the node's own 1, in head 1 as much as
    # it. Node 1 gets no edge.
    out = attend(
        torch.tensor([[math.log(3), 0.0]]),
        torch.zeros(2, 2),
        torch.tensor([[[8.0], [6.0]]]),
        torch.tensor([[[4.0], [2.0]], [[5.0], [7.0]]]),
        torch.tensor([0]),
    )
    assert out.tolist() == [pytest.approx([3 / 4 * 8 + 1 / 4 * 4, 4.0]), pytest.approx([5.0, 7.0])]
