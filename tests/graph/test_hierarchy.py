import networkx
import pytest

from statgraph.corpus.records import Article, Heading, headings_of
from statgraph.graph.hierarchy import hierarchy_of


def articles_at(*paths: tuple[str, ...]) -> tuple[Article, ...]:
    return tuple(Article(f"A{row}", "Art.", "Text.", path, row) for row, path in enumerate(paths))


def test_headings_in_order_of_first_appearance(town):
    hierarchy = hierarchy_of(town.articles)
    assert [heading.path for heading in hierarchy.headings] == [
        ("Lamp Code",),
        ("Lamp Code", "General"),
        ("Well Code",),
        ("Well Code", "General"),
        ("Lamp Code", "General", "Hours"),
    ]
    assert hierarchy.heading_parents.tolist() == [-1, 0, -1, 2, 1]
    assert hierarchy.article_parents.tolist() == [1, 3, 4, 1, 2, 4]
    assert hierarchy.depth == 3


def test_equal_titles_in_two_codes_stay_two():
    hierarchy = hierarchy_of(articles_at(("A", "General"), ("B", "General"), ("A", "General")))
    assert [heading.title for heading in hierarchy.headings] == ["A", "General", "B", "General"]
    assert hierarchy.article_parents.tolist() == [1, 3, 1]


def test_equal_titles_at_two_levels_stay_two():
    hierarchy = hierarchy_of(articles_at(("A", "General", "General"), ("A", "General")))
    assert hierarchy.heading_parents.tolist() == [-1, 0, 1]
    assert hierarchy.article_parents.tolist() == [2, 1]


def test_a_separator_in_a_title_is_no_level():
    hierarchy = hierarchy_of(articles_at(("A", "B / C"), ("A", "B", "C")))
    assert len(hierarchy.headings) == 4


def test_articles_straight_under_a_code():
    hierarchy = hierarchy_of(articles_at(("A",), ("B",), ("A",)))
    assert hierarchy.headings == (Heading(("A",)), Heading(("B",)))
    assert (hierarchy.heading_parents.tolist(), hierarchy.article_parents.tolist()) == ([-1, -1], [0, 1, 0])
    assert hierarchy.depth == 1


def test_no_articles_no_headings():
    hierarchy = hierarchy_of(())
    assert (hierarchy.headings, hierarchy.depth) == ((), 0)
    assert (len(hierarchy.heading_parents), len(hierarchy.article_parents)) == (0, 0)


def test_parents_stand_before_their_children(sample):
    hierarchy = hierarchy_of(sample.articles)
    assert all(parent < row for row, parent in enumerate(hierarchy.heading_parents))
    assert hierarchy.headings == tuple(headings_of(sample.articles))


@pytest.mark.parametrize("interleaved", [False, True])
def test_ancestors_are_those_of_networkx(sample, interleaved):
    articles = sample.articles
    if interleaved:
        articles = tuple(articles[row] for start in range(3) for row in range(start, len(articles), 3))
    hierarchy = hierarchy_of(articles)
    tree = networkx.DiGraph()
    tree.add_nodes_from(range(len(hierarchy.headings)))
    tree.add_edges_from((parent, row) for row, parent in enumerate(hierarchy.heading_parents.tolist()) if parent >= 0)
    assert networkx.is_forest(tree)
    assert sum(degree == 0 for _, degree in tree.in_degree()) == 3  # the sample's codes
    for article, parent in zip(articles, hierarchy.article_parents.tolist(), strict=True):
        above = {hierarchy.headings[row].path for row in networkx.ancestors(tree, parent) | {parent}}
        assert above == {article.path[:depth] for depth in range(1, len(article.path) + 1)}
