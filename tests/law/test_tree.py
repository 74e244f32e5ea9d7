import networkx
import pytest

from statgraph.law.catalogue import sample_folder
from statgraph.law.records import Article
from statgraph.law.store import read_corpus
from statgraph.law.tree import tree_of


def articles_at(*paths: tuple[str, ...]) -> tuple[Article, ...]:
    return tuple(Article(f"A{row}", "Art.", "Text.", path, row) for row, path in enumerate(paths))


LAMP, WELL = ("Lamp Code", "General"), ("Well Code",)


def test_headings_in_order_of_first_appearance():
    hours = (*LAMP, "Hours")
    tree = tree_of(articles_at(LAMP, (*WELL, "General"), hours, LAMP, WELL, hours))
    assert [heading.path for heading in tree.headings] == [
        ("Lamp Code",),
        ("Lamp Code", "General"),
        ("Well Code",),
        ("Well Code", "General"),
        ("Lamp Code", "General", "Hours"),
    ]
    assert tree.heading_parents.tolist() == [-1, 0, -1, 2, 1]
    assert tree.article_parents.tolist() == [1, 3, 4, 1, 2, 4]
    assert tree.depth == 3


@pytest.mark.parametrize("interleaved", [False, True])
def test_ancestors_are_those_of_networkx(interleaved):
    articles = read_corpus(sample_folder()).articles
    if interleaved:
        articles = tuple(articles[row] for start in range(3) for row in range(start, len(articles), 3))
    tree = tree_of(articles)
    digraph = networkx.DiGraph()
    digraph.add_nodes_from(range(len(tree.headings)))
    digraph.add_edges_from((parent, row) for row, parent in enumerate(tree.heading_parents.tolist()) if parent >= 0)
    assert networkx.is_forest(digraph)
    assert sum(degree == 0 for _, degree in digraph.in_degree()) == 3  # the sample's codes
    for article, parent in zip(articles, tree.article_parents.tolist(), strict=True):
        above = {tree.headings[row].path for row in networkx.ancestors(digraph, parent) | {parent}}
        assert above == {article.path[:depth] for depth in range(1, len(article.path) + 1)}


def test_what_is_directly_under_a_heading_and_how_much_is_below_it():
    hours = (*LAMP, "Hours")
    tree = tree_of(articles_at(LAMP, WELL, hours, LAMP, hours, hours))
    assert [heading.path for heading in tree.headings] == [LAMP[:1], LAMP, WELL, hours]
    assert tree.codes == [0, 2]
    assert tree.child_headings == [[1], [3], [], []]
    assert tree.child_articles == [[], [0, 3], [1], [2, 4, 5]]
    assert (tree.headings_below, tree.articles_below) == ([2, 1, 0, 0], [5, 5, 1, 3])
    assert (tree.line(3), tree.parent(3), tree.parent(0)) == ([0, 1, 3], 1, None)
    assert tree.articles_under(1).tolist() == [True, False, True, True, True, True]
    assert tree.heading_rows[hours] == 3
