import re
from xml.etree import ElementTree

import pytest

from statgraph.contrib.plots.corpus import codes_drawing
from statgraph.contrib.plots.drawing import Drawing, bars_figure, html_page, inline_svg, write_drawings
from statgraph.contrib.plots.figures import FAINT_INK, INK, PAPER, new_panels


def test_bars_are_stacked_and_show_their_totals():
    figure = bars_figure(["one", "two"], {"train": [3, 0], "test": [1, 2]}, x_name="questions")
    (axes,) = figure.axes
    bars = [(round(bar.get_y() + 0.39, 6), bar.get_x(), bar.get_width()) for bar in axes.patches if bar.get_width()]
    assert bars == [(0, 0, 3), (0, 3, 1), (1, 0, 2)]
    assert [text.get_text() for text in axes.texts] == ["4", "2"]
    assert axes.patches[2].get_url() == "one, test: 1"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["train", "test"]


def test_a_page_and_a_picture_each(two_codes, tmp_path):
    paths = write_drawings([codes_drawing(two_codes)], tmp_path / "new" / "plots", stem="corpus", heading="Two")
    assert [path.name for path in paths] == ["corpus.html", "corpus-codes.png"]
    assert sorted(path.name for path in (tmp_path / "new" / "plots").iterdir()) == ["corpus-codes.png", "corpus.html"]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    again = write_drawings([codes_drawing(two_codes)], tmp_path / "again", stem="corpus", heading="Two")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


def test_a_page_holds_the_picture_the_words_and_the_numbers():
    figure = bars_figure(["a"], {"articles": [1200]}, x_name="x")
    drawing = Drawing("codes", "Codes & co", "One <bar>.", figure, ("code", "articles"), (("a <b>", 1200),))
    page = html_page([drawing], "Corpus <x>")
    assert "<h1>Corpus &lt;x&gt;</h1>" in page
    assert "<h2>Codes &amp; co</h2>\n<p>One &lt;bar&gt;.</p>" in page
    assert "<tr><td>a &lt;b&gt;</td><td>1,200</td></tr>" in page
    assert page.count("<svg ") == 1
    assert "prefers-color-scheme: dark" in page
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"|https?:|url\((?!#)', page) == []


def test_a_part_shows_its_text_in_the_colours_of_the_page():
    figure = bars_figure(['Art. <1> & "2"', "b"], {"articles": [2, 1]}, x_name="articles")
    svg = inline_svg(Drawing("bars", "Bars & more", "Two bars.", figure, ("a", "b"), ()))
    root = ElementTree.fromstring(svg)
    assert [element.text for element in root.iter("title")] == ['Art. <1> & "2": 2', "b: 1"]
    assert (root.tag, root.get("role"), root.get("aria-label")) == ("svg", "img", "Bars & more")
    assert ("currentColor" in svg, ">articles</text>" in svg, "http" in svg) == (True, True, False)
    assert all(colour not in svg for colour in (INK, FAINT_INK, PAPER))
    ids = {element.get("id") for element in root.iter()}
    used = {element.get("href") for element in root.iter("use")}
    assert used
    assert {name.removeprefix("#") for name in used} <= ids


@pytest.mark.parametrize("names", [["one"], ["one", "two"]])
def test_each_point_shows_its_text(names):
    figure, (axes,) = new_panels(3, 3)
    axes.scatter(range(len(names)), range(len(names))).set_urls(names)
    svg = inline_svg(Drawing("map", "", "", figure, (), ()))
    assert re.findall("<title>(.*?)</title>", svg) == names
