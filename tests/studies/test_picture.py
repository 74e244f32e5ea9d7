import pytest

from statgraph.studies import picture
from statgraph.studies.picture import draw_rows
from statgraph.studies.spec import FigureSpec, RowSpec, TableSpec
from statgraph.studies.summary import summaries


@pytest.fixture
def rows(made_up):
    spec = TableSpec("t", "T", "P", rows=(RowSpec("a", "dsr"), RowSpec("b", "bm25")))
    two_seeds = {0: made_up([1, 0, 0, 0]), 1: made_up([1, 1, 1, 0], seed=1)}
    return summaries(spec, {"a": two_seeds, "b": {0: made_up([1, 1, 0, 0])}})


@pytest.mark.parametrize("kind", ["bars", "lines"])
def test_a_png_is_written(rows, tmp_path, kind):
    spec = TableSpec("t", "T", "P", figure=FigureSpec(kind))
    draw_rows(spec, rows, tmp_path / "new" / "figure.png")
    assert (tmp_path / "new" / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_bars_are_means_with_a_standard_deviation_either_way(rows, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(picture, "bar_chart", lambda *values, **names: drawn.append(values))
    draw_rows(TableSpec("t", "T", "P", figure=FigureSpec("bars", ("R@200",))), rows, tmp_path / "x.png")
    ((names, means, spread, _),) = drawn
    assert (names, means) == (["a", "b"], {"R@200": [50.0, 50.0]})
    assert spread["R@200"][0] == pytest.approx((50 - 25 * 2**0.5, 50 + 25 * 2**0.5))
    assert spread["R@200"][1] == (50, 50)
