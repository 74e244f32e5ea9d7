import dataclasses

import numpy as np
import pytest

from statgraph.graph.build import DEFAULT_RELATIONS, ITSELF, GraphSummary, build_graph, heterograph_of, summary_of
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


def test_the_tree_down_has_no_edge_from_a_child_to_its_parent(town):
    both, down = build_graph(town, ("tree",)), build_graph(town, ("tree-down",))
    assert down.edge_types == both.edge_types
    for relation in (CONTAINS_ARTICLE, CONTAINS_HEADING):
        forward, reverse = relation.edge_types
        assert rows_of(down.heterograph, forward) == rows_of(both.heterograph, forward)
        assert rows_of(down.heterograph, reverse) == [[], []] != rows_of(both.heterograph, reverse)
    together = build_graph(town, ("tree-down", "tree")).heterograph
    assert rows_of(together, CONTAINS_ARTICLE.reverse_type) == rows_of(both.heterograph, CONTAINS_ARTICLE.reverse_type)


def test_nodes_without_an_edge_are_there():
    heterograph = heterograph_of({CITES: EDGES[CITES]}, COUNTS | {"article": 9})
    assert {node_type: heterograph.num_nodes(node_type) for node_type in COUNTS} == COUNTS | {"article": 9}
    assert heterograph.num_edges(("heading", ITSELF, "heading")) == 0
    assert len(heterograph.canonical_etypes) == 3  # no such relation for articles and questions, which have edges


TREE_EDGES = {
    "article-in_heading-heading": 6,
    "heading-contains_article-article": 6,
    "heading-contains_heading-heading": 3,
    "heading-under_heading-heading": 3,
}
CITATIONS = {"article-cited_by-question": 4, "question-cites-article": 4}
ORDER = {"article-follows-article": 2, "article-precedes-article": 2}
NODES = {"article": 6, "heading": 5, "question": 3}
DEPTHS = {1: 2, 2: 2, 3: 1}


def test_nodes_have_the_corpus_names_in_its_order(town):
    graph = build_graph(town)
    assert graph.article_ids == ("L1", "W1", "L2", "L3", "W2", "L4")
    assert [heading.path[-1] for heading in graph.headings] == ["Lamp Code", "General", "Well Code", "General", "Hours"]
    assert graph.question_ids == ("q0", "q1", "q3")  # q2 is a dev and q4 a test question
    assert graph.corpus_hash == town.content_hash
    assert graph.relations == DEFAULT_RELATIONS == ("tree", "bipartite")


@pytest.mark.parametrize(
    ("relations", "edges", "orphans", "cited"),
    [
        (("tree", "bipartite"), TREE_EDGES | CITATIONS, 0, 3),
        (("tree", "bipartite", "order"), TREE_EDGES | CITATIONS | ORDER, 0, 3),
        (("tree",), TREE_EDGES, 0, 0),
        (("bipartite",), CITATIONS, 3, 3),  # no training question cites L2, W2 or L4
        (("order",), ORDER, 2, 0),  # W1 and W2 have no siblings
        ((), {}, 6, 0),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else None,
)
def test_summary_of_the_town(town, relations, edges, orphans, cited):
    assert summary_of(build_graph(town, relations)) == GraphSummary(NODES, edges, DEPTHS, orphans, cited)


def test_summary_of_a_town_whose_articles_name_each_other(referring_town):
    summary = summary_of(build_graph(referring_town, ("citations",)))
    assert summary.edges == {"article-referred_to_by-article": 4, "article-refers_to-article": 4}
    assert summary.orphan_articles == 12  # all but wells1, dogs1, carts1 and carts2
    assert summary.articles_cited == 0  # by training questions


def test_summary_of_a_town_with_citing_texts(cited_town):
    graph = build_graph(cited_town, ("bipartite", "citing"))
    summary = summary_of(graph)
    assert summary.nodes == {"article": 16, "heading": 3, "question": 8, "citing": 2}
    assert summary.edges["citing-cites-article"] == summary.edges["article-cited_by-citing"] == 3
    assert summary.articles_cited == 8  # by training questions
    assert [text.citing_id for text in graph.citing] == ["guide-1", "guide-2"]
    assert build_graph(cited_town).node_types == ("article", "heading", "question")


def test_dev_and_test_questions_change_nothing_in_the_graph(town, edges_of):
    without = dataclasses.replace(town, questions=town.split("train"))
    assert edges_of(build_graph(town)) == edges_of(build_graph(without))


def test_a_corpus_without_training_questions(town):
    graph = build_graph(dataclasses.replace(town, questions=()))
    assert summary_of(graph) == GraphSummary(
        NODES | {"question": 0}, TREE_EDGES | dict.fromkeys(CITATIONS, 0), DEPTHS, 0, 0
    )
