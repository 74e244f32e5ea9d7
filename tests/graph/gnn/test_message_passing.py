import math

import pytest
import torch

from statgraph.errors import UsageError
from statgraph.graph.gnn.message_passing import (
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


def test_a_sum_worked_by_hand(block_of):
    # Output 0 is input 2; it gets input 0 twice and input 1 once. Output 1 is input 0 and gets nothing.
    block = block_of([(0, 0, 0), (1, 0, 0), (0, 0, 1)], n_inputs=3, own_inputs=[2, 0])
    nodes = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert neighbour_sum(nodes, block).tolist() == [[4.0, 40.0], [0.0, 0.0]]


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values).unsqueeze(1)


def test_a_softmax_worked_by_hand():
    # Node 0: itself e^0 = 1, edges of 2 and 3, sum 6. Node 1: itself 4 and two equal edges of 1, sum 6. Node 2: itself.
    edge_logits, own_logits = column(math.log(2), 0.0, math.log(3), 0.0), column(0.0, math.log(4), -1e4)
    edge_weights, own_weights = edge_softmax(edge_logits, own_logits, torch.tensor([0, 1, 0, 1]))
    assert edge_weights.flatten().tolist() == pytest.approx([2 / 6, 1 / 6, 3 / 6, 1 / 6])
    assert own_weights.flatten().tolist() == pytest.approx([1 / 6, 4 / 6, 1.0])
    assert (edge_logits[1, 0], own_logits[0, 0]) == (0, 0)  # the arguments are not written to


@pytest.mark.parametrize("peak", [1e4, -1e4])
def test_large_logits_stay_in_range(peak):
    # Beside equals a large logit is as good as none; 1e4 below the peak nothing is left.
    edge_logits, own_logits = column(peak, peak, -2e4).requires_grad_(), column(peak, peak).requires_grad_()
    edge_weights, own_weights = edge_softmax(edge_logits, own_logits, torch.tensor([0, 0, 1]))
    assert edge_weights.flatten().tolist() == pytest.approx([1 / 3, 1 / 3, 0])
    assert own_weights.flatten().tolist() == pytest.approx([1 / 3, 1])
    (edge_weights.square().sum() + own_weights.square().sum()).backward()
    assert torch.isfinite(edge_logits.grad).all()
    assert torch.isfinite(own_logits.grad).all()


@pytest.mark.parametrize(("width", "n_heads"), [(10, 3), (4, 8), (8, 0), (8, -2)])
def test_heads_that_do_not_divide_the_width_are_refused(width, n_heads):
    with pytest.raises(UsageError, match=rf"^gnn\.heads: .*{width}.*{n_heads}"):
        head_width_of(width, n_heads)


def test_a_head_is_a_run_of_components():
    assert by_head(torch.arange(8).view(2, 4), 2).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert by_head(torch.empty(0, 4), 2).shape == (0, 2, 2)


def test_a_scalar_for_each_head():
    # Head 0: 1 * 5 + 0.2 * -2 * 10 = 1. Head 1: 0.2 * -1 * 5 + 3 * 2 = 5.
    vectors = torch.tensor([[[1.0, -2.0], [-1.0, 3.0]]])
    attention = torch.tensor([[5.0, 10.0], [5.0, 2.0]])
    assert leaky_scalars(vectors, attention).tolist() == [[pytest.approx(1.0), pytest.approx(5.0)]]
