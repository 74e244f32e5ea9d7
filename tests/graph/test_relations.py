import pytest

from statgraph.errors import UsageError
from statgraph.graph.relations import (
    CITES,
    CITING_CITES,
    CONTAINS_ARTICLE,
    CONTAINS_HEADING,
    PRECEDES,
    REFERENCES,
    node_types_of,
    relations_of,
)
from statgraph.law.tree import tree_of


def pairs(relation, corpus) -> list[tuple[int, int]]:
    sources, targets = relation.edges(corpus, tree_of(corpus.articles))
    return list(zip(sources.tolist(), targets.tolist(), strict=True))


@pytest.mark.parametrize(
    ("relation", "edges"),
    [
        (CONTAINS_ARTICLE, [(1, 0), (1, 3), (2, 4), (3, 1), (4, 2), (4, 5)]),
        (CONTAINS_HEADING, [(0, 1), (1, 4), (2, 3)]),
        # q0 -> L1 and W1, q1 -> L1, q3 -> L3; q3 is the third training question, and q2 and q4 are none.
        (CITES, [(0, 0), (0, 1), (1, 0), (2, 3)]),
        # L1 and L3 are under one heading with W1 and L2 between them, L2 and L4 under another.
        (PRECEDES, [(0, 3), (2, 5)]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_edges_of_the_town(town, relation, edges):
    assert sorted(pairs(relation, town)) == edges


def test_an_article_that_names_another_refers_to_it_once_and_never_to_itself(referring_town):
    # Two articles a thing, from row 0: dogs1 is row 4, its number 5.
    assert sorted(pairs(REFERENCES, referring_town)) == [(4, 2), (6, 4), (7, 2), (7, 4)]


def test_citing_texts_of_dev_and_test_questions_cite_nothing_in_the_graph(cited_town):
    assert pairs(CITING_CITES, cited_town) == [(0, 0), (0, 1), (1, 5)]  # guide-1: lamps1 and lamps2; guide-2: dogs2


def test_node_types_are_those_of_every_graph_and_those_that_a_group_brings():
    assert node_types_of(()) == node_types_of(("citations", "order")) == ("article", "heading", "question")
    assert node_types_of(("citing",)) == node_types_of(("citing", "tree")) == (*node_types_of(()), "citing")


def test_groups_come_in_the_registrys_order():
    assert relations_of(("order", "tree")) == (CONTAINS_ARTICLE, CONTAINS_HEADING, PRECEDES)
    assert relations_of(("bipartite", "bipartite")) == (CITES,)
    assert relations_of(("citations", "order")) == (PRECEDES, REFERENCES)
    assert relations_of(()) == ()


def test_an_unknown_group_is_refused():
    with pytest.raises(UsageError, match=r"graph\.relations: .*'forest'"):
        relations_of(("tree", "forest"))
