import re
from xml.etree import ElementTree

import pytest

from statgraph.errors import UsageError
from statgraph_plots.corpus import codes_drawing
from statgraph_plots.drawing import (
    Drawing,
    bars_figure,
    html_page,
    inline_svg,
    write_drawings,
)
from statgraph_plots.figures import FAINT_INK, INK, PAPER, new_panels


def test_bars_are_stacked_and_show_their_totals():
    figure, hovers = bars_figure(["one", "two"], {"train": [3, 0], "test": [1, 2]}, x_name="questions")
    (axes,) = figure.axes
    bars = [(round(bar.get_y() + 0.39, 6), bar.get_x(), bar.get_width()) for bar in axes.patches if bar.get_width()]
    assert bars == [(0, 0, 3), (0, 3, 1), (1, 0, 2)]
    assert [text.get_text() for text in axes.texts] == ["4", "2"]
    assert hovers["bar-1-0"] == ("one, test: 1",)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["train", "test"]


def test_a_page_and_a_picture_each(two_codes, tmp_path):
    paths = write_drawings([codes_drawing(two_codes)], tmp_path / "new" / "plots", stem="corpus", heading="Two")
    assert [path.name for path in paths] == ["corpus.html", "corpus-codes.png"]
    assert sorted(path.name for path in (tmp_path / "new" / "plots").iterdir()) == ["corpus-codes.png", "corpus.html"]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    again = write_drawings([codes_drawing(two_codes)], tmp_path / "again", stem="corpus", heading="Two")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


def test_a_file_is_no_folder(two_codes, tmp_path):
    (tmp_path / "plots").write_text("mine")
    with pytest.raises(UsageError, match="plots: is a file; name a folder for the pictures"):
        write_drawings([codes_drawing(two_codes)], tmp_path / "plots", stem="corpus", heading="Two")
    assert (tmp_path / "plots").read_text() == "mine"


def test_a_page_holds_the_picture_the_words_and_the_numbers():
    figure, hovers = bars_figure(["a"], {"articles": [1200]}, x_name="x")
    drawing = Drawing("codes", "Codes & co", "One <bar>.", figure, ("code", "articles"), (("a <b>", 1200),), hovers)
    page = html_page([drawing], "Corpus <x>")
    assert "<h1>Corpus &lt;x&gt;</h1>" in page
    assert "<h2>Codes &amp; co</h2>\n<p>One &lt;bar&gt;.</p>" in page
    assert "<tr><td>a &lt;b&gt;</td><td>1,200</td></tr>" in page
    assert page.count("<svg ") == 1
    assert "prefers-color-scheme: dark" in page
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"|https?:|url\((?!#)', page) == []


def test_a_list_is_folded_under_its_headings():
    figure, _ = bars_figure(["a"], {"articles": [1]}, x_name="x")
    outline = [("I <a>: 2", [("t: 1", [])]), ("II: 1", [])]
    page = html_page([Drawing("tree", "Tree", "", figure, (), (), outline=outline)], "")
    assert "<li><details><summary>I &lt;a&gt;: 2</summary>" in page
    assert "<li>t: 1</li>" in page
    assert page.count("<details>") == page.count("</details>") == 3  # the list, its first heading, the numbers


@pytest.fixture
def bars() -> Drawing:
    figure, hovers = bars_figure(["Art. <1> & 2", "b"], {"articles": [2, 1]}, x_name="articles")
    return Drawing("bars", "Bars & more", "Two bars.", figure, ("a", "b"), (), hovers)


def test_a_part_shows_its_text_in_the_colours_of_the_page(bars):
    svg = inline_svg(bars)
    root = ElementTree.fromstring(svg)
    assert [element.text for element in root.iter("title")] == ["Art. <1> & 2: 2", "b: 1"]
    assert (root.tag, root.get("role"), root.get("aria-label")) == ("svg", "img", "Bars & more")
    assert ("currentColor" in svg, "DejaVu" in svg, ">articles</text>" in svg) == (True, False, True)
    assert all(colour not in svg for colour in (INK, FAINT_INK, PAPER))


def test_every_reference_has_its_id_and_no_other_host_is_named(bars):
    root = ElementTree.fromstring(inline_svg(bars))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    used = [element.get("href") for element in root.iter("use")]
    used += [element.get("clip-path")[4:-1] for element in root.iter() if element.get("clip-path")]
    assert used
    assert {name.removeprefix("#") for name in used} <= set(ids)
    assert "http" not in inline_svg(bars)


def points_drawing(hovers) -> Drawing:
    figure, (axes,) = new_panels(3, 3)
    axes.scatter([0, 1], [0, 1]).set_gid("points")
    return Drawing("map", "", "", figure, (), (), hovers)


def test_points_show_their_texts_in_order():
    root = ElementTree.fromstring(inline_svg(points_drawing({"points": ("first", "second")})))
    assert [element.text for element in root.iter("title")] == ["first", "second"]


@pytest.mark.parametrize(("part", "found"), [("points", 2), ("nothing", 0)])
def test_texts_of_another_number_are_refused(part, found):
    with pytest.raises(ValueError, match=f"map: part '{part}' has {found} places for 1 titles"):
        inline_svg(points_drawing({part: ("one",)}))
