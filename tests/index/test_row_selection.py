import numpy as np
import pytest

from statgraph.index.row_selection import row_selector, widened


@pytest.mark.parametrize("among", [[0], [7], [8], [0, 3, 8, 9, 17]])
def test_the_selector_holds_the_rows_and_no_others(among):
    selector = row_selector(np.array(among))
    assert [row for row in range(1000) if selector.is_member(row)] == among


def test_effort_is_widened_by_the_share_of_the_rows():
    assert widened(256, np.arange(25), 100) == 1024  # a quarter of the articles
    assert widened(64, np.arange(99), 100) == 65  # 64.6
    assert widened(64, np.arange(100), 100) == 64
