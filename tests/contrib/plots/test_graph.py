from dataclasses import replace

import pytest

from statgraph.contrib.plots.graph import chosen_code, tree_figure
from statgraph.errors import UsageError
from statgraph.law.records import Article, Corpus

EMPTY = Corpus("c", "en", "CC0", "by hand", (), ())


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


def boxes(figure):
    """Return (level, top, height) of each box in shares of the figure's height, and the titles in them."""
    (axes,) = figure.axes
    height, _ = axes.get_ylim()
    places = [
        (bar.get_x(), round(bar.get_y() / height, 3), round(bar.get_height() / height, 3))
        for bar in axes.patches
        if bar.get_height()
    ]
    return places, [text.get_text() for text in axes.texts]


def test_the_tree_of_the_largest_code(two_codes):
    figure = tree_figure(two_codes)
    assert figure.get_suptitle() == "Code A: 3 articles under 3 headings"
    places, titles = boxes(figure)
    assert places == [(0, 0, 0.333), (0, 0.333, 0.667), (1, 0.333, 0.667)]
    assert titles == ["Book I", "Book II", "Title <1>"]
    assert not figure.legends


def test_headings_too_small_for_their_title_are_grey():
    many = law(*((("C", f"Book {number}", f"Title {number}"), 1) for number in range(300)), (("C", "Large"), 3000))
    figure = tree_figure(replace(EMPTY, articles=many))
    places, titles = boxes(figure)
    assert (len(places), titles) == (301, ["Large"])  # no title of a book that has none itself
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["headings too small for their title"]


def test_a_code_without_headings():
    assert boxes(tree_figure(replace(EMPTY, articles=law((("C",), 2))))) == ([], [])
