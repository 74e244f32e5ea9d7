import dataclasses
import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from statgraph.graph.gnn import message_passing
from statgraph.graph.gnn.gatv2 import GatV2Layer
from statgraph.graph.gnn.kernels import dynamic_attention, separable_attention
from statgraph.graph.gnn.kernels.bag_attention import (
    bag_softmax,
    incoming_sums,
    logit_gradients,
    outgoing_sums,
    runs_here,
)
from statgraph.graph.gnn.kernels.head_bags import head_bags
from statgraph.graph.gnn.qabisar import QabisarLayer

# The layers that compute in one step, its gradient worked out by hand, where torch's operations one by one would do.
IN_ONE_STEP = (QabisarLayer, GatV2Layer)


@pytest.fixture
def looped(block_of):
    """Return the bags of one head of two nodes, the first of which also hears the second: edges 0-0, 1-0, 1-1."""
    return head_bags(block_of([(1, 0, 0)], n_inputs=2), 1, looped=True)


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
    sums = incoming_sums(table, weights, looped)
    assert sums[0].tolist() == [[5.0, 1.0], [6.0, 0.0]]
    # The gradient of node 0's sum is (1, 0): of its weights 2 and 6, so of its logits w (g - sum w g), where the sum is
    # 0.25 * 2 + 0.75 * 6 = 5. Node 1 has one edge, whose weight is 1 whatever the logit.
    out_gradient = torch.tensor([[1.0, 0.0], [10.0, 10.0]])
    assert logit_gradients(out_gradient, sums, weights, looped).tolist() == [[-0.75], [0.75], [0.0]]
    # Node 0 gave 0.25 to its own sum; node 1 gave 0.75 to that and 1 to its own.
    rows, gradients = zip(*outgoing_sums(out_gradient, weights, looped, 1), strict=True)
    assert rows == (slice(0, 1), slice(1, 2))
    assert [gradient.tolist() for gradient in gradients] == [[[0.25, 0.0]], [[10.75, 10.0]]]


@pytest.fixture
def gradients_of(monkeypatch):
    """Return a function that gives a layer's output and the gradients of its input and parameters, either way."""

    def run(layer, block, nodes, *, in_one_step):
        monkeypatch.setattr(message_passing, "runs_here", lambda *_: in_one_step)
        nodes = nodes.clone().requires_grad_()
        out = layer(nodes, block)
        wanted = [nodes, *layer.parameters()]
        weighing = torch.randn(out.shape, dtype=out.dtype, generator=torch.Generator().manual_seed(8))
        return [out.detach(), *torch.autograd.grad((out * weighing).sum(), wanted)]

    return run


@pytest.fixture
def chunks_of(monkeypatch):
    """Return a function that sets how many edges and nodes a step works on at a time."""

    def set_chunks(size):
        for module, name in (
            (separable_attention, "_CHUNK"),
            (dynamic_attention, "_EDGES"),
            (dynamic_attention, "_NODES"),
        ):
            monkeypatch.setattr(module, name, size)

    return set_chunks


# With chunks of two edges a node's edges lie in several; the fourth kind has a node with more of them than any other.
@pytest.mark.parametrize("layer_class", IN_ONE_STEP)
@pytest.mark.parametrize("chunk", [1, 2, 5, 8192])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    "kind",
    ["outputs among the inputs", "outputs are the inputs", "repeated edges", "one crowded node", "no edges", "wider"],
)
def test_the_operations_one_by_one_give_the_same(
    random_layer, random_block, block_of, node_vectors, gradients_of, chunks_of, layer_class, kind, dtype, tolerance,
    chunk,
):  # fmt: skip
    chunks_of(chunk)
    drawn = random_block()
    block = {
        "outputs among the inputs": drawn,
        "outputs are the inputs": dataclasses.replace(drawn, own_inputs=torch.arange(7)),
        "repeated edges": block_of([(0, 1, 2), (0, 1, 2), (0, 1, 1), (3, 1, 0)], n_inputs=4),
        "one crowded node": block_of([*((source, 2, 0) for source in range(9)), (2, 8, 0)], n_inputs=9),
        "no edges": block_of([], n_inputs=3),
        "wider": drawn,
    }[kind]
    layer = random_layer(layer_class, dtype=dtype, out_width=10 if kind == "wider" else 6)
    nodes = node_vectors(block.n_inputs).to(dtype)
    ours = gradients_of(layer, block, nodes, in_one_step=True)
    reference = gradients_of(layer, block, nodes, in_one_step=False)
    for mine, other in zip(ours, reference, strict=True):
        assert torch.allclose(mine, other, rtol=tolerance, atol=tolerance * max(1.0, other.abs().max().item()))


@pytest.mark.parametrize("layer_class", IN_ONE_STEP)
def test_nodes_of_zeros_have_the_slope_below_zero(random_layer, block_of, gradients_of, layer_class):
    block = block_of([(0, 1, 0), (1, 2, 0)], n_inputs=3)
    layer, nodes = random_layer(layer_class), torch.zeros(3, 6, dtype=torch.float64)
    pairs = zip(*(gradients_of(layer, block, nodes, in_one_step=way) for way in (True, False)), strict=True)
    assert all(torch.allclose(mine, other) for mine, other in pairs)


class _LargestTensor(TorchDispatchMode):
    elements = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(tensor, torch.Tensor):
                self.elements = max(self.elements, tensor.numel())
        return out


# QABISAR's logit needs no vector of an edge, GATv2's the sum of an edge's two ends.
@pytest.mark.parametrize(("layer_class", "most_edges"), [(QabisarLayer, 499), (GatV2Layer, 100)])
@pytest.mark.parametrize("in_one_step", [True, False])
def test_vectors_of_edges_are_formed_in_parts_or_not_at_all(
    random_layer, random_block, node_vectors, gradients_of, chunks_of, layer_class, most_edges, in_one_step
):
    chunks_of(100)
    layer, block = random_layer(layer_class, width=64, n_heads=2), random_block(n_edges=500)
    with _LargestTensor() as mode:
        gradients_of(layer, block, node_vectors(width=64), in_one_step=in_one_step)
    assert (mode.elements <= most_edges * 64) == in_one_step


@pytest.mark.parametrize("layer_class", IN_ONE_STEP)
def test_equal_to_the_last_bit_under_threads(random_layer, block_of, gradients_of, layer_class):
    drawn = torch.randint(300, (2, 4000), generator=torch.Generator().manual_seed(3))
    block = block_of([(source, target, 0) for source, target in drawn.T.tolist()], n_inputs=300)
    layer = random_layer(layer_class, width=64, n_heads=8, dtype=torch.float32)
    nodes = torch.randn(300, 64, generator=torch.Generator().manual_seed(4))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first = gradients_of(layer, block, nodes, in_one_step=True)
        for _ in range(50):
            again = gradients_of(layer, block, nodes, in_one_step=True)
            assert all(torch.equal(mine, other) for mine, other in zip(first, again, strict=True))
    finally:
        torch.set_num_threads(threads)
