import pytest

from statgraph.corpus.records import Article, Corpus
from statgraph.corpus.tree import tree_of
from statgraph.errors import UsageError
from statgraph.graph.relations import (
    CITES,
    CITING_CITES,
    CONTAINS_ARTICLE,
    CONTAINS_HEADING,
    PRECEDES,
    REFERENCES,
    RELATION_GROUPS,
    node_types_of,
    relations_of,
)

EVERY_RELATION = [relation for members in RELATION_GROUPS.values() for relation in members]


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


def test_order_is_a_chain():
    # Three codes take turns, a hundred articles each: an article's next sibling is three rows on.
    articles = tuple(Article(f"A{row}", "Art.", "Text.", (f"C{row % 3}",), row) for row in range(300))
    corpus = Corpus("turns", "en", "CC0", "drawn", articles, ())
    assert sorted(pairs(PRECEDES, corpus)) == [(row, row + 3) for row in range(297)]


def test_an_article_that_names_another_refers_to_it_once_and_never_to_itself(referring_town):
    # Two articles a thing, from row 0: dogs1 is row 4, its number 5.
    assert sorted(pairs(REFERENCES, referring_town)) == [(4, 2), (6, 4), (7, 2), (7, 4)]


def test_citing_texts_of_dev_and_test_questions_cite_nothing_in_the_graph(cited_town):
    assert pairs(CITING_CITES, cited_town) == [(0, 0), (0, 1), (1, 5)]  # guide-1: lamps1 and lamps2; guide-2: dogs2


def test_no_training_questions_no_citations(random_corpus):
    assert pairs(CITES, random_corpus(6, 0, cited=0)) == []


@pytest.mark.parametrize("relation", EVERY_RELATION, ids=lambda relation: relation.name)
def test_reverses_swap_the_ends(relation):
    assert relation.reverse_type == (relation.target, relation.reverse, relation.source)
    assert {relation.source, relation.target} <= set(node_types_of(tuple(RELATION_GROUPS)))


def test_edge_types_are_unique():
    edge_types = [edge_type for relation in EVERY_RELATION for edge_type in relation.edge_types]
    assert len(set(edge_types)) == len(edge_types)


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
