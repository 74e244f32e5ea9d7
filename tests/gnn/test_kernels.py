import dataclasses

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from statgraph.gnn import kernels
from statgraph.gnn.gatv2 import GatV2Layer, QabisarV2Layer
from statgraph.gnn.kernels import leaky_scalars, runs_here, weighted_sums
from statgraph.gnn.qabisar import QabisarLayer

each_layer = pytest.mark.parametrize("layer_class", [QabisarLayer, GatV2Layer, QabisarV2Layer])


@pytest.mark.parametrize(("dtype", "answer"), [(torch.float32, True), (torch.float64, True), (torch.bfloat16, False)])
def test_what_runs_here(dtype, answer):
    assert runs_here(torch.zeros(2, 4, dtype=dtype)) is answer
    assert not runs_here(torch.zeros(2, 4, dtype=dtype, device="meta"))


def test_a_scalar_for_each_head():
    # Head 0: 1 * 5 + 0.2 * -2 * 10 = 1. Head 1: 0.2 * -1 * 5 + 3 * 2 = 5.
    vectors = torch.tensor([[[1.0, -2.0], [-1.0, 3.0]]])
    attention = torch.tensor([[5.0, 10.0], [5.0, 2.0]])
    assert leaky_scalars(vectors, attention).tolist() == [[pytest.approx(1.0), pytest.approx(5.0)]]


def test_sums_and_their_gradients_worked_by_hand(block_of):
    # Output 0 gets input 1 twice and input 0; output 1 gets nothing.
    block = block_of([(1, 0, 0), (0, 0, 0), (1, 0, 0)], n_inputs=2)
    values = torch.tensor([[[2.0, 4.0], [1.0, 1.0]], [[6.0, 0.0], [0.0, 3.0]]], requires_grad=True)
    weights = torch.tensor([[0.25, 1.0], [0.5, 2.0], [0.25, 0.0]], requires_grad=True)
    sums = weighted_sums(values, weights, block)
    assert sums.tolist() == [[[4.0, 2.0], [2.0, 5.0]], [[0.0, 0.0], [0.0, 0.0]]]
    sums.backward(torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[9.0, 9.0], [9.0, 9.0]]]))
    assert weights.grad.tolist() == [[6.0, 3.0], [2.0, 1.0], [6.0, 3.0]]
    assert values.grad.tolist() == [[[0.5, 0.0], [0.0, 2.0]], [[0.5, 0.0], [0.0, 1.0]]]


@pytest.fixture
def gradients_of(monkeypatch):
    """Return a function that gives a layer's output and the gradients of its input and parameters, either way."""

    def run(layer, block, nodes, *, by_bags):
        monkeypatch.setattr(kernels, "runs_here", lambda _: by_bags)
        nodes = nodes.clone().requires_grad_()
        out = layer(nodes, block)
        weighing = torch.randn(out.shape, dtype=out.dtype, generator=torch.Generator().manual_seed(8))
        return [out.detach(), *torch.autograd.grad((out * weighing).sum(), [nodes, *layer.parameters()])]

    return run


@each_layer
@pytest.mark.parametrize("edges_at_once", [1, 5, 8192])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    "kind",
    [
        "outputs among the inputs", "outputs are the inputs", "repeated edges", "one crowded node", "no edges",
        "wider", "nodes of zeros",
    ],
)  # fmt: skip
def test_autograd_gives_the_same(
    random_layer, random_block, block_of, node_vectors, gradients_of, monkeypatch, layer_class, kind, dtype, tolerance,
    edges_at_once,
):  # fmt: skip
    monkeypatch.setattr(kernels, "_EDGES", edges_at_once)
    drawn = random_block()
    block = {
        "outputs are the inputs": dataclasses.replace(drawn, own_inputs=torch.arange(7)),
        "repeated edges": block_of([(0, 1, 2), (0, 1, 2), (0, 1, 1), (3, 1, 0)], n_inputs=4),
        "one crowded node": block_of([*((source, 2, 0) for source in range(9)), (2, 8, 0)], n_inputs=9),
        "no edges": block_of([], n_inputs=3),
    }.get(kind, drawn)
    layer = random_layer(layer_class, dtype=dtype, out_width=10 if kind == "wider" else 6)
    nodes = node_vectors(block.n_inputs).to(dtype) * (kind != "nodes of zeros")
    ours = gradients_of(layer, block, nodes, by_bags=True)
    reference = gradients_of(layer, block, nodes, by_bags=False)
    for mine, other in zip(ours, reference, strict=True):
        assert torch.allclose(mine, other, rtol=tolerance, atol=tolerance * max(1.0, other.abs().max().item()))


class _LargestTensor(TorchDispatchMode):
    elements = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(tensor, torch.Tensor):
                self.elements = max(self.elements, tensor.numel())
        return out


# QABISAR's logit needs no vector of an edge, GATv2's the sum of an edge's two ends.
@each_layer
@pytest.mark.parametrize("by_bags", [True, False])
def test_vectors_of_edges_are_formed_in_parts_or_not_at_all(
    random_layer, random_block, node_vectors, gradients_of, monkeypatch, layer_class, by_bags
):
    monkeypatch.setattr(kernels, "_EDGES", 100)
    layer, block = random_layer(layer_class, width=64, n_heads=2), random_block(n_edges=500)
    with _LargestTensor() as mode:
        gradients_of(layer, block, node_vectors(width=64), by_bags=by_bags)
    assert (mode.elements <= 100 * 64) == by_bags


@each_layer
def test_equal_to_the_last_bit_under_threads(random_layer, block_of, gradients_of, layer_class):
    drawn = torch.randint(300, (2, 4000), generator=torch.Generator().manual_seed(3))
    block = block_of([(source, target, 0) for source, target in drawn.T.tolist()], n_inputs=300)
    layer = random_layer(layer_class, width=64, n_heads=8, dtype=torch.float32)
    nodes = torch.randn(300, 64, generator=torch.Generator().manual_seed(4))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first = gradients_of(layer, block, nodes, by_bags=True)
        for _ in range(20):
            again = gradients_of(layer, block, nodes, by_bags=True)
            assert all(torch.equal(mine, other) for mine, other in zip(first, again, strict=True))
    finally:
        torch.set_num_threads(threads)


@each_layer
def test_inputs_without_gradients_get_none(random_layer, random_block, node_vectors, layer_class):
    layer, nodes = random_layer(layer_class), node_vectors()
    layer(nodes, random_block()).sum().backward()
    assert nodes.grad is None
    assert layer.source_projection.weight.grad.abs().sum() > 0
    assert layer.target_projection.weight.grad.abs().sum() > 0
