import torch

from statgraph.gnn.neighbour_sum import neighbour_sum


def test_worked_by_hand(block_of):
    # Output 0 is input 2; it gets input 0 twice and input 1 once. Output 1 is input 0 and gets nothing.
    block = block_of([(0, 0, 0), (1, 0, 0), (0, 0, 1)], n_inputs=3, own_inputs=[2, 0])
    nodes = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert neighbour_sum(nodes, block).tolist() == [[4.0, 40.0], [0.0, 0.0]]


def test_no_nodes(block_of):
    assert neighbour_sum(torch.empty(0, 3), block_of([], n_inputs=0)).shape == (0, 3)
