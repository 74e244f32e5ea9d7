from dataclasses import replace

import pytest

from statgraph.corpus.records import Article, Corpus
from statgraph.errors import UsageError
from statgraph.plotting.drawing import Item
from statgraph.plotting.tree import boxes_of, branch_of, chosen_code, tree_drawing

EMPTY = Corpus("c", "en", "CC0", "by hand", (), ())


def law(*paths_and_counts):
    return [
        Article(f"{number}-{copy}", "", "", path, copy)
        for number, (path, count) in enumerate(paths_and_counts)
        for copy in range(count)
    ]


@pytest.fixture
def root():
    """Return a code of 10 articles: 6 in Book I (1 of its own, 5 in a title), 1 in Book II, 1 in Book III, 2 in IV."""
    articles = law((("C", "I"), 1), (("C", "I", "t"), 5), (("C", "II"), 1), (("C", "III"), 1), (("C", "IV"), 2))
    return branch_of([*articles, *law((("D", "I"), 7))], "C")


def test_counts_of_a_tree(root):
    assert (root.path, root.articles, root.headings) == (("C",), 10, 5)
    assert [(child.path, child.articles, child.headings) for child in root.children.values()] == [
        (("C", "I"), 6, 1), (("C", "II"), 1, 0), (("C", "III"), 1, 0), (("C", "IV"), 2, 0),
    ]  # fmt: skip


def boxes(root, **limits):
    return [
        ("+".join(branch.path[-1] for branch in box.branches), box.level, round(box.top, 6), round(box.bottom, 6))
        for box in boxes_of(root, **limits)
    ]


def test_boxes_are_as_high_as_their_articles_are_many(root):
    assert boxes(root, least=0.0, levels=3) == [
        ("C", 0, 0, 1), ("I", 1, 0, 0.6), ("t", 2, 0, 0.5), ("II", 1, 0.6, 0.7),
        ("III", 1, 0.7, 0.8), ("IV", 1, 0.8, 1),
    ]  # fmt: skip


def test_small_neighbours_share_a_box(root):
    assert boxes(root, least=0.15, levels=2) == [
        ("C", 0, 0, 1), ("I", 1, 0, 0.6), ("II+III", 1, 0.6, 0.8), ("IV", 1, 0.8, 1),
    ]  # fmt: skip


def test_a_family_goes_down_the_tree(root):
    assert [box.family for box in boxes_of(root, least=0.15, levels=3)] == [-1, 0, 0, 1, 3]


@pytest.mark.parametrize(("name", "code"), [(None, "Labour Code"), ("Tax Code", "Tax Code"), ("LABOUR", "Labour Code")])
def test_the_code_meant(name, code):
    assert chosen_code(law((("Tax Code",), 1), (("Labour Code",), 2)), name) == code


@pytest.mark.parametrize(("name", "said"), [("Penal", "not in the corpus"), ("code", "matches more than one")])
def test_a_code_that_is_not_clear(name, said):
    with pytest.raises(UsageError, match=f"^code '{name}': {said}; choose from Labour Code, Tax Code$"):
        chosen_code(law((("Tax Code",), 1), (("Labour Code",), 2)), name)


def test_the_tree_of_the_largest_code(two_codes):
    drawing = tree_drawing(two_codes)
    assert drawing.title == "Code A: headings by number of articles"
    assert drawing.rows == (("Book I", 0, 1), ("Book II", 1, 2))
    assert [said for (said,) in drawing.hovers.values()] == [
        "Code A: 3 articles", "Code A > Book I: 1 article", "Code A > Book II: 2 articles",
        "Code A > Book II > Title <1>: 2 articles",
    ]  # fmt: skip
    assert [text.get_text() for text in drawing.figure.axes[0].texts] == ["Code A", "Book I", "Book II", "Title <1>"]
    assert drawing.figure.legends == []


def test_what_has_no_room_in_the_picture_is_in_the_list():
    many = law(*((("C", f"Book {number}", f"Title {number}"), 1) for number in range(300)), (("C", "Large"), 3000))
    drawing = tree_drawing(replace(EMPTY, articles=tuple(many)))
    drawn = " ".join(text.get_text() for text in drawing.figure.axes[0].texts)
    assert "Book 7" not in drawn
    (key,) = drawing.figure.legends
    assert "small headings together" in key.get_texts()[0].get_text()
    assert drawing.outline[7] == Item("Book 7", "1 article", (Item("Title 7", "1 article"),))
    assert (len(drawing.outline), drawing.outline[300].note) == (301, "3,000 articles")
    assert drawing.outline_title == "All headings of C"


def test_a_code_without_headings(two_codes):
    drawing = tree_drawing(two_codes, "Code B")
    assert (drawing.rows, len(drawing.hovers)) == ((), 1)
