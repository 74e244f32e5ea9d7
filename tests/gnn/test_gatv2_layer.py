import functools

import pytest
import torch

from statgraph.gnn.gatv2_layer import GatV2Layer
from statgraph.graph.dgl_loader import load_dgl


@pytest.fixture
def layer_of(random_layer):
    """Return a function that makes a layer of random parameters, the projections not the identity."""
    return functools.partial(random_layer, GatV2Layer)


@pytest.mark.parametrize(("width", "n_heads"), [(6, 1), (6, 2), (6, 6), (1, 1)])
def test_the_formula_node_by_node(layer_of, random_block, node_vectors, neighbours_of, width, n_heads):
    layer, block, nodes = layer_of(width, n_heads), random_block(), node_vectors(width=width)
    size = width // n_heads
    expected = torch.empty(block.n_outputs, width, dtype=nodes.dtype)
    for head in range(n_heads):
        part = slice(head * size, (head + 1) * size)
        w_s, w_t = layer.target_projection.weight[part], layer.source_projection.weight[part]
        for i, own in enumerate(block.own_inputs.tolist()):
            around = [own, *neighbours_of(block, i)]
            logits = []
            for j in around:
                added = w_s @ nodes[own] + w_t @ nodes[j]
                logits.append(layer.attention[head] @ torch.where(added > 0, added, 0.2 * added))
            alpha = torch.softmax(torch.stack(logits), dim=0)
            expected[i, part] = sum(weight * (w_t @ nodes[j]) for weight, j in zip(alpha, around, strict=True))
    assert torch.allclose(layer(nodes, block), expected + layer.bias, atol=1e-10)


def test_worked_by_hand(block_of):
    # One head of width 2, a = (ln 3, 0): the logit is ln 3 LeakyReLU of the sum of the first components. Node 0 has -1
    # there and node 1 has 2: for node 0, itself gets 0.2 * -2 ln 3 and node 1 gets ln 3, so the weights are 3^-0.4, 3.
    layer = GatV2Layer(2, n_heads=1, n_edge_types=1)
    with torch.no_grad():
        layer.attention.copy_(torch.log(torch.tensor([[3.0, 1.0]])))
    out = layer(torch.tensor([[-1.0, 4.0], [2.0, 8.0]]), block_of([(1, 0, 0)], n_inputs=2))
    own, other = 3**-0.4 / (3**-0.4 + 3), 3 / (3**-0.4 + 3)
    assert out.tolist() == [pytest.approx([-own + 2 * other, 4 * own + 8 * other]), pytest.approx([2.0, 8.0])]


def test_who_looks_decides_whom_it_prefers(block_of):
    # Nodes 0 and 1 both see nodes 2 and 3. With a = (1, 1) and x = +-10 each prefers the neighbour that is large where
    # it is large itself: the ranking that GAT's static attention cannot turn round.
    layer = GatV2Layer(2, n_heads=1, n_edge_types=1)
    with torch.no_grad():
        layer.attention.fill_(1.0)
    nodes = torch.tensor([[10.0, -10.0], [-10.0, 10.0], [5.0, -5.0], [-5.0, 5.0]])
    out = layer(nodes, block_of([(2, 0, 0), (3, 0, 0), (2, 1, 0), (3, 1, 0)], n_inputs=4))
    assert out[0, 0] > 4
    assert out[1, 1] > 4


def test_dgl_gives_the_same(layer_of, dgl_graph, node_vectors):
    looped, _, block = dgl_graph
    layer, nodes = layer_of(width=6, n_heads=2), node_vectors()
    theirs = load_dgl().nn.pytorch.GATv2Conv(6, 3, 2, bias=False).double()
    with torch.no_grad():
        theirs.fc_src.weight.copy_(layer.source_projection.weight)
        theirs.fc_dst.weight.copy_(layer.target_projection.weight)
        theirs.attn.copy_(layer.attention)
    assert torch.allclose(layer(nodes, block), theirs(looped, nodes).flatten(1) + layer.bias, atol=1e-10)
