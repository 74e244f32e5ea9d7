import re
from xml.etree import ElementTree

import pytest

from statgraph.contrib.plots.corpus import codes_drawing
from statgraph.contrib.plots.drawing import (
    Drawing,
    bars_figure,
    html_page,
    inline_svg,
    write_drawings,
)
from statgraph.contrib.plots.figures import FAINT_INK, INK, PAPER, new_panels


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


@pytest.mark.parametrize(("part", "found"), [("points", 2), ("nothing", 0)])
def test_texts_of_another_number_are_refused(part, found):
    with pytest.raises(ValueError, match=f"map: part '{part}' has {found} places for 1 titles"):
        inline_svg(points_drawing({part: ("one",)}))
