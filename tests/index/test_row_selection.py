import pytest

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.row_selection import row_selector, widened


@pytest.mark.parametrize("rows", [[0], [7], [8], [0, 3, 8, 9, 17]])
def test_the_selector_holds_the_rows_and_no_others(rows):
    selector = row_selector(AllowedRows.checked(rows, 1000))
    assert [row for row in range(1000) if selector.is_member(row)] == rows


def test_effort_is_widened_by_the_share_of_the_rows():
    assert widened(256, AllowedRows.checked(range(25), 100), 100) == 1024  # a quarter of the articles
    assert widened(64, AllowedRows.checked(range(99), 100), 100) == 65  # 64.6
    assert widened(64, AllowedRows.checked(range(100), 100), 100) == 64
