import numpy as np
import pytest

from statgraph.corpus.where import ANYWHERE, Where
from statgraph.errors import RunError
from statgraph.index.engines.contract import Columns
from statgraph.index.engines.held_articles import HeldArticles


@pytest.fixture
def held(compass) -> HeldArticles:
    """East and north in Book I of A, west in A alone, south in Book I of B, north-east nowhere."""
    paths = [("A", "I"), ("A", "I"), ("A",), ("B", "I"), ()]
    days = [(0, 9), (5, 9), (0, 9), (0, 5), (0, 9)]
    return HeldArticles.of("ENWSX", compass, Columns(paths, np.array(days, dtype=np.int32)))


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        (ANYWHERE, "ENWSX"),
        (Where(codes=("A",)), "ENW"),
        (Where(codes=("A", "B"), heading=("A", "I")), "EN"),
        (Where(heading=("I",)), ""),
        (Where(day=4), "EWSX"),
        (Where(day=5), "ENWX"),
        (Where(ids=("S", "nowhere"), codes=("B",)), "S"),
    ],
)
def test_conditions_on_columns(held, tmp_path, where, ids):
    held.write(tmp_path)
    for one in (held, HeldArticles.read(tmp_path, remedy="write it again")):
        (ranking,) = one.search(np.array([[1, 0]], dtype=np.float32), 5, where)
        assert (set(ranking.ids), one.count(where)) == (set(ids), len(ids))


def test_a_missing_file_is_named_with_the_remedy(held, tmp_path):
    held.write(tmp_path)
    (tmp_path / "columns.npy").unlink()
    with pytest.raises(RunError, match=r"columns\.npy.*write it again"):
        HeldArticles.read(tmp_path, remedy="write it again")
