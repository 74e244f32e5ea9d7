import re
from xml.etree import ElementTree

import pytest

from statgraph.errors import UsageError
from statgraph.evaluation.plots import FAINT_INK, INK, PAPER, new_figure
from statgraph.plotting.bars import lying_bars
from statgraph.plotting.corpus_pictures import depths_drawing
from statgraph.plotting.drawing import Drawing, Item
from statgraph.plotting.page import html_page, inline_svg, write_drawings


def test_a_page_and_a_picture_each(two_codes, tmp_path):
    paths = write_drawings([depths_drawing(two_codes)], tmp_path / "new" / "plots", stem="corpus", heading="Two")
    assert [path.name for path in paths] == ["corpus.html", "corpus-depths.png"]
    assert sorted(path.name for path in (tmp_path / "new" / "plots").iterdir()) == ["corpus-depths.png", "corpus.html"]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    again = write_drawings([depths_drawing(two_codes)], tmp_path / "again", stem="corpus", heading="Two")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


def test_a_file_is_no_folder(two_codes, tmp_path):
    (tmp_path / "plots").write_text("mine")
    with pytest.raises(UsageError, match="plots: is a file; name a folder for the pictures"):
        write_drawings([depths_drawing(two_codes)], tmp_path / "plots", stem="corpus", heading="Two")
    assert (tmp_path / "plots").read_text() == "mine"


def test_a_page_holds_the_picture_the_words_and_the_numbers():
    figure, hovers = lying_bars(["a"], [1200], x_name="x")
    drawing = Drawing("codes", "Codes & co", "One <bar>.", figure, ("code", "articles"), (("a <b>", 1200),), hovers)
    page = html_page([drawing], "Corpus <x>")
    assert "<h1>Corpus &lt;x&gt;</h1>" in page
    assert "<h2>Codes &amp; co</h2>\n<p>One &lt;bar&gt;.</p>" in page
    assert '<tr><td>a &lt;b&gt;</td><td class="number">1,200</td></tr>' in page
    assert page.count("<svg ") == 1
    assert "prefers-color-scheme: dark" in page
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"|https?:|url\((?!#)', page) == []


def test_a_list_is_folded_under_its_headings():
    figure, _ = lying_bars(["a"], [1], x_name="x")
    items = (Item("I <a>", "2 articles", (Item("t", "1 article"),)), Item("II", "1 article"))
    page = html_page([Drawing("tree", "Tree", "", figure, (), (), outline=items, outline_title="All of <C>")], "")
    assert "<summary>All of &lt;C&gt;</summary>" in page
    assert '<li><details><summary>I &lt;a&gt; <span class="note">2 articles</span></summary>' in page
    assert '<li>t <span class="note">1 article</span></li>' in page
    assert page.count("<details>") == page.count("</details>") == 3  # the list, its first heading, the numbers


@pytest.fixture
def bars() -> Drawing:
    figure, hovers = lying_bars(["Art. <1> & 2", "b"], [2, 1], x_name="articles")
    return Drawing("bars", "Bars & more", "Two bars.", figure, ("a", "b"), (), hovers)


def test_parts_say_what_they_are(bars):
    root = ElementTree.fromstring(inline_svg(bars))
    part = next(element for element in root.iter("g") if element.get("id") == "bars-bar-0")
    assert part.find("title").text == "Art. <1> & 2: 2"


def test_a_screen_reader_gets_the_title_and_the_description(bars):
    root = ElementTree.fromstring(inline_svg(bars))
    assert (root.tag, root.get("role")) == ("svg", "img")
    named = {element.get("id"): element.text for element in root}
    assert [named[name] for name in root.get("aria-labelledby").split()] == ["Bars & more", "Two bars."]


def test_the_page_gives_the_colours_and_the_letters(bars):
    svg = inline_svg(bars)
    assert "currentColor" in svg
    assert "DejaVu" not in svg
    assert ">articles</text>" in svg
    assert all(colour not in svg for colour in (INK, FAINT_INK, PAPER))


def test_every_reference_has_its_id_and_no_other_host_is_named(bars):
    root = ElementTree.fromstring(inline_svg(bars))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("bars-") for name in ids)
    used = [element.get("href") for element in root.iter("use")]
    used += [element.get("clip-path")[4:-1] for element in root.iter() if element.get("clip-path")]
    assert used
    assert {name.removeprefix("#") for name in used} <= set(ids)
    assert "http" not in inline_svg(bars)


def test_points_say_what_they_are_in_their_order():
    figure, axes = new_figure(3, 3)
    axes.scatter([0, 1, 2], [0, 1, 2]).set_gid("points")
    drawing = Drawing("map", "", "", figure, (), (), {"points": ("first", "second", "third")})
    root = ElementTree.fromstring(inline_svg(drawing))
    marks = next(element for element in root.iter("g") if element.get("id") == "map-points").iter("use")
    assert [mark.find("title").text for mark in marks] == ["first", "second", "third"]


@pytest.mark.parametrize(("part", "texts", "found"), [("points", ("one",), 2), ("nothing", ("one",), 0)])
def test_titles_that_fit_nothing_are_refused(part, texts, found):
    figure, axes = new_figure(3, 3)
    axes.scatter([0, 1], [0, 1]).set_gid("points")
    with pytest.raises(ValueError, match=f"map: part '{part}' has {found} places for 1 titles"):
        inline_svg(Drawing("map", "", "", figure, (), (), {part: texts}))
