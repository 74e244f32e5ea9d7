import numpy as np
import pytest
import torch

from statgraph.training.fresh_inputs import with_fresh

OLD = torch.tensor([[1.0], [2.0], [3.0], [4.0]])


@pytest.mark.parametrize(
    ("nodes", "fresh_nodes", "expected", "gradient"),
    [
        ([5, 8, 2, 9], [5, 8], [10, 20, 3, 4], [1, 2]),  # a whole batch: its nodes come first
        ([8, 2, 5, 9], [5, 8], [20, 2, 10, 4], [3, 1]),
        ([8, 2, 4, 9], [5, 8], [20, 2, 3, 4], [0, 1]),  # node 5 is no input of this rank's block
        ([7, 2, 4, 9], [5, 8], [1, 2, 3, 4], [0, 0]),
    ],
)
def test_fresh_vectors_take_the_place_of_old_ones(nodes, fresh_nodes, expected, gradient):
    fresh = torch.tensor([[10.0], [20.0]], requires_grad=True)
    inputs = with_fresh(OLD, torch.tensor(nodes), fresh, np.array(fresh_nodes))
    assert inputs.flatten().tolist() == expected
    assert OLD.flatten().tolist() == [1, 2, 3, 4]

    (inputs.flatten() * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert fresh.grad.flatten().tolist() == gradient
