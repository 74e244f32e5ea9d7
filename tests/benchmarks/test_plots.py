from dataclasses import asdict
from xml.etree import ElementTree

from benchmarks import plots
from benchmarks.measuring import Row

SVG = "{http://www.w3.org/2000/svg}"


def of_plot(svg: str, tag: str, *names: str) -> list[tuple]:
    """Return the class and these numbers of each such element of a plot."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}{tag}")
    return [(one.get("class"), *(float(one.get(name)) for name in names)) for one in found]


def test_bars_are_as_long_as_their_values_in_each_column():
    lines = [plots.Bar("a", [10, 1000]), plots.Bar("b", [5, 250], is_ours=False)]
    svg = plots.bars({"%": "{:.1f}", "ms": "{:,.0f}"}, {"law": lines})
    (ours, long, wide), (_, high, _), (theirs, half, _), (_, quarter, _) = of_plot(svg, "rect", "width", "x")
    assert (ours, theirs, wide) == ("ours", "theirs", 200)
    assert (half, quarter) == (long / 2, high / 4)
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts == ["%", "ms", "law", "a", "10.0", "1,000", "b", "5.0", "250"]


def test_an_interval_lies_over_the_end_of_its_bar():
    svg = plots.bars({"%": "{:.0f}"}, {"law": [plots.Bar("a", [10], intervals=[(5, 20)])]})
    ((_, x, long),) = of_plot(svg, "rect", "x", "width")
    (path,) = (one.get("d") for one in ElementTree.fromstring(svg).iter(f"{SVG}path"))
    low, high = (float(place.split()[0]) for place in path.replace("H", "M").split("M")[1:])
    assert (low, high) == (x + long / 2, x + 2 * long)


def test_the_plot_has_the_times_of_each_size():
    figures = {"ours": [0.001, 0.002, 0.001], "faiss": [0.1, 0.1, 0.3]}
    what = "index of 1,000,000 articles, auto (ivf-pq), one question at a time"
    svg = plots.index_plot([asdict(Row(what, "exact search", "x", figures))])
    assert of_plot(svg, "circle", "cx", "cy") == [("ours", 280, 240), ("theirs", 280, 140)]
