import numpy as np
import pytest

from statgraph.graph.heterograph import ITSELF, heterograph_of
from statgraph.graph.relations import CITES, CONTAINS_ARTICLE, CONTAINS_HEADING

# Two codes, the first with a section of its own; articles under the section, the section and the second code.
COUNTS = {"article": 3, "heading": 3, "question": 2}
EDGES = {
    CONTAINS_ARTICLE: (np.array([1, 1, 2]), np.arange(3)),
    CONTAINS_HEADING: (np.array([0]), np.array([1])),
    CITES: (np.array([0, 1, 1]), np.array([2, 0, 2])),
}


def rows_of(heterograph, edge_type) -> list[list[int]]:
    return [rows.tolist() for rows in heterograph.edges(etype=edge_type, order="eid")]


def test_edges_are_those_of_the_arrays_and_reverses_share_their_ids():
    heterograph = heterograph_of(EDGES, COUNTS)
    assert len(heterograph.canonical_etypes) == 6
    assert rows_of(heterograph, CONTAINS_ARTICLE.forward_type) == [[1, 1, 2], [0, 1, 2]]
    assert rows_of(heterograph, CONTAINS_ARTICLE.reverse_type) == [[0, 1, 2], [1, 1, 2]]
    assert rows_of(heterograph, CITES.forward_type) == [[0, 1, 1], [2, 0, 2]]
    assert rows_of(heterograph, CITES.reverse_type) == [[2, 0, 2], [0, 1, 1]]


@pytest.mark.parametrize("dtype", [np.int32, np.uint16, np.int64])
def test_rows_of_any_width(dtype):
    edges = {relation: tuple(rows.astype(dtype) for rows in ends) for relation, ends in EDGES.items()}
    heterograph = heterograph_of(edges, COUNTS)
    assert str(heterograph.idtype) == "torch.int64"
    assert rows_of(heterograph, CITES.forward_type) == [[0, 1, 1], [2, 0, 2]]


def test_rows_that_lie_apart_in_memory():
    pairs = np.array([[0, 2], [1, 0], [1, 2]])  # a column of it is not contiguous
    heterograph = heterograph_of({CITES: (pairs[:, 0], pairs[:, 1])}, COUNTS)
    assert rows_of(heterograph, CITES.forward_type) == [[0, 1, 1], [2, 0, 2]]


def test_nodes_without_an_edge_are_there():
    heterograph = heterograph_of({CITES: EDGES[CITES]}, COUNTS | {"article": 9})
    assert {node_type: heterograph.num_nodes(node_type) for node_type in COUNTS} == COUNTS | {"article": 9}
    assert heterograph.num_edges(("heading", ITSELF, "heading")) == 0
    assert len(heterograph.canonical_etypes) == 3  # no such relation for articles and questions, which have edges


def test_no_relation_at_all():
    heterograph = heterograph_of({}, COUNTS)
    assert sorted(heterograph.canonical_etypes) == [(node_type, ITSELF, node_type) for node_type in COUNTS]


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (
            ([0, 1], [0, 3]),
            "cites: article rows from 0 to 3; there are 3 of type article, so give rows from 0 to 2",
        ),
        (
            ([-1, 1], [0, 1]),
            "cites: question rows from -1 to 1; there are 2 of type question, so give rows from 0 to 1",
        ),
        (([0, 1], [0]), "cites: 2 sources, 1 targets; give one of each for an edge"),
    ],
)
def test_rows_of_no_node_are_refused(ends, message):
    with pytest.raises(ValueError, match="cites") as refused:
        heterograph_of({CITES: tuple(np.array(rows) for rows in ends)}, COUNTS)
    assert str(refused.value) == message


def test_arrays_are_left_as_they_are():
    sources, targets = np.array([0, 1, 1]), np.array([2, 0, 2])
    heterograph_of({CITES: (sources, targets)}, COUNTS)
    assert (sources.tolist(), targets.tolist()) == ([0, 1, 1], [2, 0, 2])
