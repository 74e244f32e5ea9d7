import dataclasses
import functools

import pytest
import torch

from statgraph.gnn.qabisar_layer import QabisarLayer

N_EDGE_TYPES = 3


@pytest.fixture
def layer_of(random_layer):
    """Return a function that makes a layer of random parameters, the projections not the identity."""
    return functools.partial(random_layer, QabisarLayer)


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
def test_the_formula_whatever_the_targets_scalar(layer_of, random_block, node_vectors, width, n_heads, target_scale):
    layer, block, nodes = layer_of(width, n_heads), random_block(), node_vectors(width=width)
    target_attention = target_scale * node_vectors(n_heads, width // n_heads, seed=5)
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


def test_edge_types_matter(layer_of, random_block, node_vectors):
    layer, block, nodes = layer_of(), random_block(), node_vectors()
    other = dataclasses.replace(block, edge_types=(block.edge_types + 1) % N_EDGE_TYPES)
    changed = (layer(nodes, other) - layer(nodes, block)).abs().amax(dim=1) > 1e-6
    assert changed.tolist() == [True] * 4 + [False]  # the last output has no edge


def test_an_edge_to_itself_is_not_the_node_itself(layer_of, block_of, node_vectors):
    layer, nodes = layer_of(), node_vectors(2)
    loop = block_of([(0, 0, 1)], n_inputs=2)
    assert torch.allclose(layer(nodes, loop), slow(layer, nodes, loop, torch.zeros(2, 3, dtype=nodes.dtype)))
    assert not torch.allclose(layer(nodes, loop)[0], layer(nodes, block_of([], n_inputs=2))[0])


def test_no_edges_leave_the_targets_projection(layer_of, block_of, node_vectors):
    layer, nodes = layer_of(), node_vectors()
    out = layer(nodes, block_of([], n_inputs=7, own_inputs=[6, 0]))
    assert torch.allclose(out, nodes[[6, 0]] @ layer.target_projection.weight.T + layer.bias)
