import copy
import dataclasses

import pytest
import torch
from torch.func import functional_call

from statgraph.errors import UsageError
from statgraph.gnn.qabisar_layer import QabisarLayer

N_EDGE_TYPES = 3


@pytest.fixture
def layer_of():
    """Return a function that makes a layer of random parameters, the projections not the identity."""

    def make(width: int = 6, n_heads: int = 2, dtype: torch.dtype = torch.float64) -> QabisarLayer:
        torch.manual_seed(11)
        layer = QabisarLayer(width, n_heads=n_heads, n_edge_types=N_EDGE_TYPES).to(dtype)
        for parameter in layer.parameters():
            torch.nn.init.normal_(parameter)
        return layer

    return make


def vectors(rows: int = 7, width: int = 6, seed: int = 2) -> torch.Tensor:
    return torch.randn(rows, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def slow(layer: QabisarLayer, nodes: torch.Tensor, block, target_attention: torch.Tensor) -> torch.Tensor:
    """Return the layer's output as QABISAR's formula reads, node by node and head by head.

    alpha_ij = softmax_j(a . LeakyReLU([Ws x_i || Wt x_j || We e_ij])), the target's part of `a` included: (heads, head
    width).
    """
    size = layer.head_width
    out = torch.empty(block.n_outputs, layer.n_heads * size, dtype=nodes.dtype)
    for head in range(layer.n_heads):
        part = slice(head * size, (head + 1) * size)
        w_s, w_t = layer.target_projection.weight[part], layer.source_projection.weight[part]
        w_e = layer.edge_projection.weight[part]
        a = torch.cat([target_attention[head], layer.source_attention[head], layer.edge_attention[head]])
        for i, own in enumerate(block.own_inputs.tolist()):
            edges = zip(block.sources.tolist(), block.targets.tolist(), block.edge_types.tolist(), strict=True)
            neighbours = [(own, N_EDGE_TYPES)] + [(j, kind) for j, target, kind in edges if target == i]
            logits = []
            for j, kind in neighbours:
                joined = torch.cat([w_s @ nodes[own], w_t @ nodes[j], w_e @ layer.edge_embeddings.weight[kind]])
                logits.append(a @ torch.where(joined > 0, joined, 0.2 * joined))
            alpha = torch.softmax(torch.stack(logits), dim=0)
            out[i, part] = alpha[0] * (w_s @ nodes[own])
            for weight, (j, _) in zip(alpha[1:], neighbours[1:], strict=True):
                out[i, part] += weight * (w_t @ nodes[j])
    return out + layer.bias


@pytest.mark.parametrize(("width", "n_heads"), [(6, 1), (6, 2), (6, 6), (1, 1)])
@pytest.mark.parametrize("target_scale", [0.0, 1.0, 30.0])
def test_the_formula_whatever_the_targets_scalar(layer_of, random_block, width, n_heads, target_scale):
    layer, block, nodes = layer_of(width, n_heads), random_block(), vectors(width=width)
    target_attention = target_scale * vectors(n_heads, width // n_heads, seed=5)
    assert torch.allclose(layer(nodes, block), slow(layer, nodes, block, target_attention), atol=1e-10)


def test_worked_by_hand(block_of):
    # One head of width 2. Node 1 sends to node 0; all logits are 0 but the source's: a = (ln 3, 0) picks its first
    # component, 1 for node 1 and 0 for node 0. So node 1 weighs 3 / (1 + 3) in node 0.
    layer = QabisarLayer(2, n_heads=1, n_edge_types=1)
    with torch.no_grad():
        layer.source_attention.copy_(torch.log(torch.tensor([[3.0, 1.0]])))
        layer.edge_attention.zero_()
    out = layer(torch.tensor([[0.0, 4.0], [1.0, 8.0]]), block_of([(1, 0, 0)], n_inputs=2))
    assert out.tolist() == [pytest.approx([0.75, 7.0]), pytest.approx([1.0, 8.0])]


def test_an_untrained_layer_stays_among_the_neighbours(random_block):
    torch.manual_seed(0)
    layer, block, nodes = QabisarLayer(6, n_heads=3, n_edge_types=N_EDGE_TYPES), random_block(), vectors().float()
    out = layer(nodes, block)
    for i, own in enumerate(block.own_inputs.tolist()):
        around = nodes[[own, *block.sources[block.targets == i].tolist()]]
        assert (out[i] <= around.amax(dim=0) + 1e-6).all()
        assert (out[i] >= around.amin(dim=0) - 1e-6).all()


def test_gradients(layer_of, random_block):
    layer, block = layer_of(width=4, n_heads=2), random_block(n_edges=9)
    names = [name for name, _ in layer.named_parameters()]
    values = [parameter.detach().clone().requires_grad_() for parameter in layer.parameters()]

    def forward(nodes, *parameters):
        return functional_call(layer, dict(zip(names, parameters, strict=True)), (nodes, block))

    assert torch.autograd.gradcheck(forward, (vectors(width=4).requires_grad_(), *values))


def test_every_parameter_learns(layer_of, random_block):
    layer = layer_of()
    layer(vectors(), random_block()).square().sum().backward()
    assert [name for name, parameter in layer.named_parameters() if not parameter.grad.abs().sum()] == []


def test_the_order_of_edges_changes_nothing(layer_of, random_block):
    layer, block, nodes = layer_of(), random_block(), vectors()
    order = torch.randperm(len(block.sources), generator=torch.Generator().manual_seed(0))
    shuffled = dataclasses.replace(
        block, sources=block.sources[order], targets=block.targets[order], edge_types=block.edge_types[order]
    )
    assert torch.allclose(layer(nodes, shuffled), layer(nodes, block), atol=1e-12)


def test_new_numbers_for_the_nodes_change_nothing_else(layer_of, random_block):
    layer, block, nodes = layer_of(), random_block(), vectors()
    generator = torch.Generator().manual_seed(0)
    input_order, output_order = torch.randperm(7, generator=generator), torch.randperm(5, generator=generator)
    new_input, new_output = input_order.argsort(), output_order.argsort()  # old place -> new place
    renumbered = dataclasses.replace(
        block,
        sources=new_input[block.sources],
        targets=new_output[block.targets],
        own_inputs=new_input[block.own_inputs[output_order]],
    )
    assert torch.allclose(layer(nodes[input_order], renumbered), layer(nodes, block)[output_order], atol=1e-12)


def test_edge_types_matter(layer_of, random_block):
    layer, block, nodes = layer_of(), random_block(), vectors()
    other = dataclasses.replace(block, edge_types=(block.edge_types + 1) % N_EDGE_TYPES)
    changed = (layer(nodes, other) - layer(nodes, block)).abs().amax(dim=1) > 1e-6
    assert changed.tolist() == [True] * 4 + [False]  # the last output has no edge


def test_an_edge_to_itself_is_not_the_node_itself(layer_of, block_of):
    layer, nodes = layer_of(), vectors(2)
    loop = block_of([(0, 0, 1)], n_inputs=2)
    assert torch.allclose(layer(nodes, loop), slow(layer, nodes, loop, torch.zeros(2, 3, dtype=nodes.dtype)))
    assert not torch.allclose(layer(nodes, loop)[0], layer(nodes, block_of([], n_inputs=2))[0])


def test_no_edges_leave_the_targets_projection(layer_of, block_of):
    layer, nodes = layer_of(), vectors()
    out = layer(nodes, block_of([], n_inputs=7, own_inputs=[6, 0]))
    assert torch.allclose(out, nodes[[6, 0]] @ layer.target_projection.weight.T + layer.bias)


def test_no_nodes(layer_of, block_of):
    layer = layer_of()
    assert layer(vectors(0), block_of([], n_inputs=0)).shape == (0, 6)
    assert layer(vectors(7), block_of([], n_inputs=7, own_inputs=[])).shape == (0, 6)


def test_a_far_node_has_no_part(layer_of, block_of):
    layer, nodes = layer_of(), vectors(3)
    block = block_of([(1, 0, 0)], n_inputs=3)
    moved = nodes.clone()
    moved[2] += 5
    changed = (layer(moved, block) - layer(nodes, block)).abs().amax(dim=1) > 0
    assert changed.tolist() == [False, False, True]


@pytest.mark.parametrize(("width", "n_heads"), [(10, 3), (4, 8), (8, 0), (8, -2)])
def test_heads_that_do_not_divide_the_width_are_refused(width, n_heads):
    with pytest.raises(UsageError) as refused:
        QabisarLayer(width, n_heads=n_heads, n_edge_types=1)
    assert str(refused.value) == (f"gnn.heads: {n_heads} heads do not divide the width {width}; use a divisor of it")


def test_bfloat16_autocast_comes_close(layer_of, random_block):
    layer, block = layer_of(width=8, dtype=torch.float32), random_block()
    nodes = vectors(width=8).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = layer(nodes, block)
    exact = layer(nodes, block)
    assert torch.nn.functional.cosine_similarity(mixed.float(), exact).min() > 0.98


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_gives_what_the_cpu_gives(layer_of, random_block):
    device = torch.device("cuda")
    layer, block, nodes = layer_of(), random_block(n_edges=200), vectors()
    on_cuda = copy.deepcopy(layer).to(device)
    here, there = nodes.clone().requires_grad_(), nodes.to(device).requires_grad_()
    out, out_on_cuda = layer(here, block), on_cuda(there, block.to(device))
    out.square().sum().backward()
    out_on_cuda.square().sum().backward()
    assert torch.allclose(out_on_cuda.cpu(), out, atol=1e-10)
    assert torch.allclose(there.grad.cpu(), here.grad, atol=1e-8)
