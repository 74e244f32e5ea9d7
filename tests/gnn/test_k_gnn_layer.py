import pytest
import torch

from statgraph.gnn.k_gnn_layer import KGnnLayer
from statgraph.graph.dgl_loader import load_dgl


def test_the_formula_node_by_node(random_layer, random_block, node_vectors, neighbours_of):
    layer, block, nodes = random_layer(KGnnLayer), random_block(), node_vectors()
    expected = []
    for i, own in enumerate(block.own_inputs.tolist()):
        vector = layer.own_projection.weight @ nodes[own]
        for j in neighbours_of(block, i):
            vector = vector + layer.neighbour_projection.weight @ nodes[j]
        expected.append(vector)
    assert torch.allclose(layer(nodes, block), torch.stack(expected) + layer.bias, atol=1e-10)


def test_worked_by_hand(block_of):
    # Node 0: 8 + 0.5 (2 + 6). Nodes 1 and 2 have no neighbour.
    layer = KGnnLayer(1, n_heads=1, n_edge_types=1)
    torch.nn.init.constant_(layer.neighbour_projection.weight, 0.5)
    out = layer(torch.tensor([[8.0], [2.0], [6.0]]), block_of([(1, 0, 0), (2, 0, 0)], n_inputs=3))
    assert out.flatten().tolist() == pytest.approx([12.0, 2.0, 6.0])


def test_untrained_it_returns_its_input_and_learns_to_sum(random_block, node_vectors):
    layer, block, nodes = KGnnLayer(6, n_heads=1, n_edge_types=3), random_block(), node_vectors().float()
    out = layer(nodes, block)
    assert out.equal(nodes[block.own_inputs])
    out.square().sum().backward()
    assert layer.neighbour_projection.weight.grad.abs().min() > 0


def test_dgl_gives_the_same(random_layer, dgl_graph, node_vectors):
    _, plain, block = dgl_graph
    layer, nodes = random_layer(KGnnLayer), node_vectors()
    theirs = load_dgl().nn.pytorch.GraphConv(6, 6, norm="none", bias=False, allow_zero_in_degree=True).double()
    with torch.no_grad():
        theirs.weight.copy_(layer.neighbour_projection.weight.T)
    assert torch.allclose(
        layer(nodes, block), layer.own_projection(nodes) + theirs(plain, nodes) + layer.bias, atol=1e-10
    )
