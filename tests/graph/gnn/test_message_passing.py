import math

import pytest
import torch

from statgraph.graph.gnn.message_passing import edge_softmax, identity_projection


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.0])
def test_it_starts_as_the_scaled_identity(scale):
    vectors = torch.tensor([[1.0, -2.0, 3.0]])
    assert identity_projection(3, scale=scale)(vectors).tolist() == [[scale, -2 * scale, 3 * scale]]


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
