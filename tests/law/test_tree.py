from statgraph.law.records import Article
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
