import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.law.records import Article
from statgraph.law.structure import Structure, gathered

ARTICLES = (
    Article("a", "Art. 1, Code", "See article 3.", ("Code", "Lamps"), 0),
    Article("b", "Art. L2, Code", "Dark.", ("Code", "Lamps"), 1),
    Article("c", "Art. 3, Code", "See articles 1 and 3.", ("Code", "Wells", "Lids"), 2),
    Article("d", "Preamble", "Light.", ("Code",), 3),
)


@pytest.fixture(scope="module")
def structure():
    return Structure.of(ARTICLES)


def test_sections_and_places(structure):
    assert structure.section.tolist() == [1, 1, 3, 0]  # rows of the tree's headings
    assert structure.parent.tolist() == [0, 0, 2, 0]  # under the code; under Wells; in the code
    assert structure.place.tolist() == [0, 1, 0, 0]
    assert structure.siblings.tolist() == [1, 1, 0, 0]
    assert structure.depth.tolist() == [2, 2, 3, 1]
    assert structure.number_kind.tolist() == [0, 1, 0, 0]


def test_citations_both_ways(structure):
    starts, rows = structure.citations.refers_to
    assert (starts.tolist(), rows.tolist()) == ([0, 1, 1, 2, 2], [2, 0])  # nobody cites itself
    starts, rows = structure.citations.referred_by
    assert (starts.tolist(), rows.tolist()) == ([0, 1, 1, 2, 2], [2, 0])
    assert structure.times_cited.tolist() == [1, 0, 1, 0]


def test_ragged_rows_are_gathered(structure):
    values, places = gathered(structure.members, np.array([3, 1]))
    assert (values.tolist(), places.tolist()) == ([2, 0, 1], [0, 1, 1])


def test_what_is_written_is_read(structure, tmp_path):
    structure.write(tmp_path / "structure.npz")

    read = Structure.read(tmp_path / "structure.npz", 4)
    for name in ("section", "parent", "place", "depth", "length", "number_kind"):
        assert getattr(read, name).tolist() == getattr(structure, name).tolist()
    assert read.citations.targets.tolist() == [2, 0]
    assert read.citations.starts.tolist() == [0, 1, 1, 2, 2]
    with pytest.raises(RunError, match="5 articles"):
        Structure.read(tmp_path / "structure.npz", 5)
    (tmp_path / "structure.npz").write_bytes(b"no arrays")
    with pytest.raises(RunError, match="not readable"):
        Structure.read(tmp_path / "structure.npz", 4)
