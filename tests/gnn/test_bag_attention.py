import math

import pytest
import torch

from statgraph.gnn.bag_attention import (
    are_the_inputs,
    bag_softmax,
    block_diagonal,
    chunks,
    incoming_sums,
    logit_gradients,
    outgoing_sums,
    own_projection_gradient,
    runs_here,
)
from statgraph.gnn.head_bags import looped_head_bags


@pytest.fixture
def looped(block_of):
    """Return the bags of one head of two nodes, the first of which also hears the second: edges 0-0, 1-0, 1-1."""
    return looped_head_bags(block_of([(1, 0, 0)], n_inputs=2), 1)


@pytest.mark.parametrize(
    ("dtype", "outputs", "answer"),
    [(torch.float32, 2, True), (torch.float64, 2, True), (torch.bfloat16, 2, False), (torch.float32, 0, False)],
)
def test_what_runs_here(block_of, dtype, outputs, answer):
    block = block_of([], n_inputs=2, own_inputs=list(range(outputs)))
    assert runs_here(torch.zeros(2, 4, dtype=dtype), block) is answer
    assert not runs_here(torch.zeros(2, 4, dtype=dtype, device="meta"), block)


def test_weights_worked_by_hand(looped):
    # Large logits too: exp(1000) alone would be infinite.
    weights = bag_softmax(torch.tensor([[1000.0], [1000.0 + math.log(3)], [-7.0]]), looped)
    assert weights.flatten().tolist() == pytest.approx([1 / 4, 3 / 4, 1.0], abs=1e-4)


def test_sums_and_their_gradients_worked_by_hand(looped):
    table = torch.tensor([[2.0, 4.0], [6.0, 0.0]])
    weights = torch.tensor([[0.25], [0.75], [1.0]])
    assert incoming_sums(table, weights, looped).tolist() == [[5.0, 1.0], [6.0, 0.0]]
    # The gradient of node 0's sum is (1, 0): of its weights 2 and 6, so of its logits w (g - sum w g), where the sum is
    # 0.25 * 2 + 0.75 * 6 = 5. Node 1 has one edge, whose weight is 1 whatever the logit.
    out_gradient = torch.tensor([[1.0, 0.0], [10.0, 10.0]])
    assert logit_gradients(out_gradient, table, weights, looped).tolist() == [[-0.75], [0.75], [0.0]]
    # Node 0 gave 0.25 to its own sum; node 1 gave 0.75 to that and 1 to its own.
    rows, gradients = zip(*outgoing_sums(out_gradient, weights, looped, 1), strict=True)
    assert rows == (slice(0, 1), slice(1, 2))
    assert [gradient.tolist() for gradient in gradients] == [[[0.25, 0.0]], [[10.75, 10.0]]]


@pytest.mark.parametrize("chunk", [1, 2, 9])
@pytest.mark.parametrize("own_inputs", [[0, 1, 2], [2, 0]])
def test_the_gradient_of_a_projection_is_autograds(node_vectors, own_inputs, chunk):
    nodes, weight = node_vectors(3, 4).requires_grad_(), node_vectors(4, 4, seed=5).requires_grad_()
    own, gradient = torch.tensor(own_inputs), node_vectors(len(own_inputs), 4, seed=6)
    wanted = torch.autograd.grad(nodes[own] @ weight.T, [weight, nodes], gradient)
    with torch.no_grad():
        node_gradient = torch.ones(3, 4, dtype=torch.float64)
        mine = own_projection_gradient(lambda rows: gradient[rows], nodes, own, weight, node_gradient, chunk)
        without = own_projection_gradient(lambda rows: gradient[rows], nodes, own, weight, None, chunk)
    assert torch.allclose(mine, wanted[0])
    assert torch.equal(mine, without)
    assert torch.allclose(node_gradient, 1 + wanted[1])


def test_small_ones():
    assert chunks(5, 2) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert chunks(0, 2) == []
    assert are_the_inputs(torch.tensor([0, 1]), 2)
    assert not are_the_inputs(torch.tensor([1, 0]), 2)
    assert not are_the_inputs(torch.tensor([0, 1]), 3)
    assert block_diagonal(torch.tensor([[1, 2], [3, 4]])).tolist() == [[1, 0], [2, 0], [0, 3], [0, 4]]
