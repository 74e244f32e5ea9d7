import math

import pytest
import torch

from statgraph.errors import UsageError
from statgraph.gnn.attention import attend, by_head, head_width_of, leaky_scalars


@pytest.mark.parametrize(("width", "n_heads", "head_width"), [(8, 1, 8), (8, 2, 4), (8, 8, 1)])
def test_heads_share_the_width(width, n_heads, head_width):
    assert head_width_of(width, n_heads) == head_width


@pytest.mark.parametrize(("width", "n_heads"), [(10, 3), (4, 8), (8, 0), (8, -2)])
def test_heads_that_do_not_divide_the_width_are_refused(width, n_heads):
    with pytest.raises(UsageError) as refused:
        head_width_of(width, n_heads)
    assert str(refused.value) == f"gnn.heads: must divide the width {width} (got {n_heads})"


def test_a_head_is_a_run_of_components():
    assert by_head(torch.arange(8).view(2, 4), 2).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert by_head(torch.empty(0, 4), 2).shape == (0, 2, 2)


def test_a_scalar_for_each_head():
    # Head 0: 1 * 5 + 0.2 * -2 * 10 = 1. Head 1: 0.2 * -1 * 5 + 3 * 2 = 5.
    vectors = torch.tensor([[[1.0, -2.0], [-1.0, 3.0]]])
    attention = torch.tensor([[5.0, 10.0], [5.0, 2.0]])
    assert leaky_scalars(vectors, attention).tolist() == [[pytest.approx(1.0), pytest.approx(5.0)]]


def test_attend_worked_by_hand():
    # Two heads of one component. Node 0 gets one edge: in head 0 it weighs 3 to the node's own 1, in head 1 as much as
    # it. Node 1 gets no edge.
    out = attend(
        torch.tensor([[math.log(3), 0.0]]),
        torch.zeros(2, 2),
        torch.tensor([[[8.0], [6.0]]]),
        torch.tensor([[[4.0], [2.0]], [[5.0], [7.0]]]),
        torch.tensor([0]),
    )
    assert out.tolist() == [pytest.approx([3 / 4 * 8 + 1 / 4 * 4, 4.0]), pytest.approx([5.0, 7.0])]
