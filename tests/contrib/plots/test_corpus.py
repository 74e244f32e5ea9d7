from dataclasses import replace

import pytest

from statgraph.contrib.plots.corpus import (
    chosen_code,
    codes_drawing,
    labels_drawing,
    tree_drawing,
)
from statgraph.errors import UsageError
from statgraph.law.records import Article, Corpus

EMPTY = Corpus("c", "en", "CC0", "by hand", (), ())


def test_the_largest_code_first(two_codes):
    drawing = codes_drawing(two_codes)
    assert drawing.rows == (("Code A", 3), ("Code B", 1))
    assert "4 in 2 codes, 75 % of them in Code A" in drawing.description


def test_past_thirty_codes_the_smallest_share_a_bar(two_codes):
    articles = [Article(f"{code}.{n}", "", "x", (f"Code {code}",), n) for code in range(32) for n in range(40 - code)]
    rows = codes_drawing(replace(two_codes, articles=tuple(articles))).rows
    assert len(rows) == 30
    assert rows[0] == ("Code 0", 40)
    assert rows[-1] == ("3 other codes", 11 + 10 + 9)


def test_questions_by_their_articles_and_split(two_codes):
    drawing = labels_drawing(two_codes)
    assert drawing.columns == ("articles", "train", "test")  # no dev question
    assert drawing.rows == (("1", 1, 0), ("2", 1, 0), ("3", 0, 0), ("4", 0, 1))
    assert "Half have 2 or fewer, the mean is 2.3, the most 4" in drawing.description


def law(*paths_and_counts):
    return tuple(
        Article(f"{number}-{copy}", "", "", path, copy)
        for number, (path, count) in enumerate(paths_and_counts)
        for copy in range(count)
    )


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
    (axes,) = drawing.figure.axes
    assert {text.get_text() for text in axes.texts} == {"Code A", "Book I", "Book II", "Title <1>"}
    boxes = {
        bar.get_url(): (bar.get_x(), round(bar.get_y(), 3), round(bar.get_height(), 3))
        for bar in axes.patches
        if bar.get_url()
    }
    assert boxes == {
        "Code A: 3": (0, 0, 1),
        "Code A > Book I: 1": (1, 0, 0.333),
        "Code A > Book II: 2": (1, 0.333, 0.667),
        "Code A > Book II > Title <1>: 2": (2, 0.333, 0.667),
    }


def test_headings_too_small_for_a_box_are_in_the_list():
    many = law(*((("C", f"Book {number}", f"Title {number}"), 1) for number in range(300)), (("C", "Large"), 3000))
    drawing = tree_drawing(replace(EMPTY, articles=many))
    drawn = " ".join(text.get_text() for text in drawing.figure.axes[0].texts)
    assert "Book 7" not in drawn
    assert drawing.outline[7] == ("Book 7: 1 article", [("Title 7: 1 article", [])])
    assert (len(drawing.outline), drawing.outline[300]) == (301, ("Large: 3,000 articles", []))
