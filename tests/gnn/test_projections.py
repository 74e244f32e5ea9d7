import pytest
import torch

from statgraph.gnn.projections import identity_projection


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.0])
def test_it_starts_as_the_scaled_identity(scale):
    vectors = torch.tensor([[1.0, -2.0, 3.0]])
    assert identity_projection(3, scale=scale)(vectors).tolist() == [[scale, -2 * scale, 3 * scale]]


def test_without_a_scale_it_is_the_identity_and_learns():
    projection = identity_projection(2)
    vectors = torch.tensor([[1.0, 2.0]])
    assert projection(vectors).equal(vectors)
    projection(vectors).sum().backward()
    assert projection.weight.grad.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert projection.bias is None
