import math

import pytest
import torch

from statgraph.gnn.gcn_layer import GcnLayer
from statgraph.graph.dgl_loader import load_dgl


def test_the_formula_node_by_node(random_layer, random_block, node_vectors, neighbours_of):
    layer, block, nodes = random_layer(GcnLayer), random_block(), node_vectors()
    expected = torch.zeros(block.n_outputs, 6, dtype=nodes.dtype)
    for i, own in enumerate(block.own_inputs.tolist()):
        around = [own, *neighbours_of(block, i)]
        for j in around:
            out_j = 1 + block.sources.tolist().count(j)
            expected[i] += layer.projection.weight @ nodes[j] / math.sqrt(len(around) * out_j)
    assert torch.allclose(layer(nodes, block), expected + layer.bias, atol=1e-10)


def test_worked_by_hand(block_of):
    # A star: node 0 has the neighbours 1, 2 and 3, so its degree is 4 and theirs 2, themselves counted.
    # Node 0: 8 / 4 + (1 + 2 + 3) / sqrt(8). Node 1: 1 / 2 + 8 / sqrt(8).
    edges = [(end, 0, 0) for end in (1, 2, 3)] + [(0, end, 1) for end in (1, 2, 3)]
    out = GcnLayer(1, n_heads=1, n_edge_types=2)(
        torch.tensor([[8.0], [1.0], [2.0], [3.0]]), block_of(edges, n_inputs=4)
    )
    assert out[:2].flatten().tolist() == pytest.approx([2 + 6 / math.sqrt(8), 0.5 + math.sqrt(8)])


def test_edges_both_ways_give_the_published_matrix(random_layer, node_vectors, block_of):
    layer, nodes = random_layer(GcnLayer), node_vectors(5)
    pairs = [(0, 1), (0, 2), (1, 2), (3, 0)]
    adjacency = torch.eye(5, dtype=nodes.dtype)
    for one, other in pairs:
        adjacency[one, other] = adjacency[other, one] = 1
    root = torch.diag(adjacency.sum(dim=1) ** -0.5)
    block = block_of([(*pair, 0) for one, other in pairs for pair in ((one, other), (other, one))], n_inputs=5)
    expected = root @ adjacency @ root @ nodes @ layer.projection.weight.T + layer.bias
    assert torch.allclose(layer(nodes, block), expected, atol=1e-10)


def test_dgl_gives_the_same(random_layer, dgl_graph, node_vectors):
    looped, _, block = dgl_graph
    layer, nodes = random_layer(GcnLayer), node_vectors()
    theirs = load_dgl().nn.pytorch.GraphConv(6, 6, norm="both").double()
    with torch.no_grad():
        theirs.weight.copy_(layer.projection.weight.T)
        theirs.bias.copy_(layer.bias)
    assert torch.allclose(layer(nodes, block), theirs(looped, nodes), atol=1e-10)
