import pytest
import torch

from statgraph.gnn.graphsage_layer import GraphSageLayer
from statgraph.graph.dgl_loader import load_dgl


def test_the_formula_node_by_node(random_layer, random_block, node_vectors, neighbours_of):
    layer, block, nodes = random_layer(GraphSageLayer), random_block(), node_vectors()
    expected = []
    for i, own in enumerate(block.own_inputs.tolist()):
        around = neighbours_of(block, i)
        mean = sum(nodes[j] for j in around) / len(around) if around else torch.zeros(6, dtype=nodes.dtype)
        expected.append(layer.own_projection.weight @ nodes[own] + layer.neighbour_projection.weight @ mean)
    assert torch.allclose(layer(nodes, block), torch.stack(expected) + layer.bias, atol=1e-10)


def test_untrained_it_goes_half_way_to_the_mean(block_of):
    # Node 0: half of 8 and half of the mean of 2 and 6. Nodes 1 and 2 have no neighbour: half of themselves.
    out = GraphSageLayer(1, n_heads=1, n_edge_types=1)(
        torch.tensor([[8.0], [2.0], [6.0]]), block_of([(1, 0, 0), (2, 0, 0)], n_inputs=3)
    )
    assert out.flatten().tolist() == pytest.approx([6.0, 1.0, 3.0])


def test_dgl_gives_the_same(random_layer, dgl_graph, node_vectors):
    _, plain, block = dgl_graph
    layer, nodes = random_layer(GraphSageLayer), node_vectors()
    theirs = load_dgl().nn.pytorch.SAGEConv(6, 6, "mean", bias=False).double()
    with torch.no_grad():
        theirs.fc_self.weight.copy_(layer.own_projection.weight)
        theirs.fc_neigh.weight.copy_(layer.neighbour_projection.weight)
    assert torch.allclose(layer(nodes, block), theirs(plain, nodes) + layer.bias, atol=1e-10)
