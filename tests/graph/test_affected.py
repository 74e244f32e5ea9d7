import numpy as np
import pytest

from statgraph.graph.affected import affected_nodes, old_rows
from statgraph.graph.build import build_graph
from statgraph.law.records import Article, Corpus, Question

# Code > {A > {a1, a2}, B > {b1}}; q cites a2 and b1. Without the question, a1 is two hops from a2 (over A) and four
# from b1 (over A, Code, B).
PATHS = {"a1": ("Code", "A"), "a2": ("Code", "A"), "b1": ("Code", "B")}


def graph_of(paths=PATHS, cited=("a2", "b1"), relations=("tree", "bipartite")):
    articles = tuple(Article(name, name, name, path, row) for row, (name, path) in enumerate(paths.items()))
    questions = (Question("q", "?", "train", tuple(cited)),)
    return build_graph(Corpus("c", "en", "", "", articles, questions), relations)


def affected(old, new, hops, changed=()):
    """Return the names of the affected nodes, headings by their titles."""
    rows = old_rows(old, new)
    names = {
        "article": new.article_ids, "heading": [h.title for h in new.headings], "question": new.question_ids,
    }  # fmt: skip
    marks = {kind: np.array([name in changed for name in of_kind], dtype=bool) for kind, of_kind in names.items()}
    found = affected_nodes(old, new, rows=rows, changed=marks, hops=hops)
    return {name for kind, of_kind in names.items() for name, hit in zip(of_kind, found[kind], strict=True) if hit}


def test_nothing_changed_nothing_affected():
    assert affected(graph_of(), graph_of(), hops=3) == set()


@pytest.mark.parametrize(
    ("hops", "reached"),
    [
        (0, {"a2"}),
        (1, {"a2", "A", "q"}),
        (2, {"a2", "A", "q", "a1", "Code", "b1"}),
        (3, {"a2", "A", "q", "a1", "Code", "b1", "B"}),
    ],
)
def test_an_amended_article_reaches_one_hop_a_layer(hops, reached):
    assert affected(graph_of(), graph_of(), hops, changed={"a2"}) == reached


def test_without_citations_it_goes_up_and_down_the_tree():
    tree = graph_of(relations=("tree",))
    assert affected(tree, tree, 2, changed={"a2"}) == {"a2", "A", "a1", "Code"}
    assert affected(tree, tree, 4, changed={"a2"}) == {"a2", "A", "a1", "Code", "B", "b1"}


def test_a_lost_citation_reaches_both_its_ends():
    assert affected(graph_of(), graph_of(cited=("a2",)), hops=1) == {"q", "b1"}
    assert affected(graph_of(), graph_of(cited=("a2",)), hops=2) == {"q", "b1", "a2", "B"}


def test_a_repealed_article_reaches_those_that_it_was_a_neighbour_of():
    left = {name: path for name, path in PATHS.items() if name != "b1"}
    # With its only article B goes too.
    assert affected(graph_of(), graph_of(left, cited=("a2",)), hops=1) == {"Code", "q"}


def test_an_added_article_comes_with_a_new_heading():
    more = {**PATHS, "c1": ("Code", "C")}
    assert affected(graph_of(), graph_of(more), hops=1) == {"c1", "C", "Code"}


def test_the_order_of_siblings_is_an_edge_where_the_graph_has_it():
    swapped = {name: PATHS[name] for name in ("a2", "a1", "b1")}
    assert affected(graph_of(), graph_of(swapped), hops=2) == set()
    order = ("tree", "bipartite", "order")
    assert affected(graph_of(relations=order), graph_of(swapped, relations=order), hops=1) == {"a1", "a2"}


def test_equal_titles_under_two_codes_are_two_headings():
    old = graph_of({"x": ("One", "Duties"), "y": ("Two", "Duties")}, cited=("x",))
    new = graph_of({"x": ("One", "Duties"), "y": ("Two", "Rights")}, cited=("x",))
    assert old_rows(old, new)["heading"].tolist() == [0, 1, 2, -1]
    rows = old_rows(old, new)
    none = {kind: np.zeros(len(of_kind), dtype=bool) for kind, of_kind in rows.items()}
    found = affected_nodes(old, new, rows=rows, changed=none, hops=1)
    assert found["heading"].tolist() == [False, False, True, True]
    assert found["article"].tolist() == [False, True]
