import functools

import pytest
import torch

from statgraph.gnn.gat_layer import GatLayer
from statgraph.graph.dgl_loader import load_dgl


@pytest.fixture
def layer_of(random_layer):
    """Return a function that makes a layer of random parameters, the projection not the identity."""
    return functools.partial(random_layer, GatLayer)


@pytest.mark.parametrize(("width", "n_heads"), [(6, 1), (6, 2), (6, 6), (1, 1)])
def test_the_formula_node_by_node(layer_of, random_block, node_vectors, neighbours_of, width, n_heads):
    layer, block, nodes = layer_of(width, n_heads), random_block(), node_vectors(width=width)
    size = width // n_heads
    expected = torch.empty(block.n_outputs, width, dtype=nodes.dtype)
    for head in range(n_heads):
        part = slice(head * size, (head + 1) * size)
        w = layer.projection.weight[part]
        a = torch.cat([layer.target_attention[head], layer.source_attention[head]])
        for i, own in enumerate(block.own_inputs.tolist()):
            around = [own, *neighbours_of(block, i)]
            logits = torch.stack([a @ torch.cat([w @ nodes[own], w @ nodes[j]]) for j in around])
            alpha = torch.softmax(torch.where(logits > 0, logits, 0.2 * logits), dim=0)
            expected[i, part] = sum(weight * (w @ nodes[j]) for weight, j in zip(alpha, around, strict=True))
    assert torch.allclose(layer(nodes, block), expected + layer.bias, atol=1e-10)


def test_worked_by_hand(block_of):
    # One head of width 2; at = (-ln 3, 0) and as = (ln 3, 0) see the first components, 1 and 3. For node 0, itself gets
    # LeakyReLU(-ln 3 + ln 3) = 0 and node 1 gets -ln 3 + 3 ln 3 = ln 9: the weights are 1 / 10 and 9 / 10.
    layer = GatLayer(2, n_heads=1, n_edge_types=1)
    with torch.no_grad():
        layer.source_attention.copy_(torch.log(torch.tensor([[3.0, 1.0]])))
        layer.target_attention.copy_(-layer.source_attention)
    out = layer(torch.tensor([[1.0, 10.0], [3.0, 20.0]]), block_of([(1, 0, 0)], n_inputs=2))
    assert out.tolist() == [pytest.approx([2.8, 19.0]), pytest.approx([3.0, 20.0])]


def test_dgl_gives_the_same(layer_of, dgl_graph, node_vectors):
    looped, _, block = dgl_graph
    layer, nodes = layer_of(width=6, n_heads=2), node_vectors()
    theirs = load_dgl().nn.pytorch.GATConv(6, 3, 2).double()
    with torch.no_grad():
        theirs.fc.weight.copy_(layer.projection.weight)
        theirs.attn_l.copy_(layer.source_attention)
        theirs.attn_r.copy_(layer.target_attention)
        theirs.bias.copy_(layer.bias)
    assert torch.allclose(layer(nodes, block), theirs(looped, nodes).flatten(1), atol=1e-10)
