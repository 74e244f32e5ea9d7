import numpy as np
import pytest

from statgraph.contrib.plots import figures
from statgraph.contrib.plots.figures import bar_chart, heat_map


@pytest.fixture
def drawn(monkeypatch):
    """Return a list that gets the axes of every figure that is written."""
    axes, save = [], figures.save_png

    def kept(figure, path):
        axes.append(figure.axes[0])
        save(figure, path)

    monkeypatch.setattr(figures, "save_png", kept)
    return axes


def pixels(path):
    from matplotlib.image import imread

    return imread(path)


def test_a_heat_map_shows_each_value_in_its_cell(tmp_path, drawn):
    heat_map(
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]), [0.0, 0.5, 1.0], ["low", "high"], tmp_path / "map.png",
        title="Title", xlabel="b", ylabel="k1",
    )  # fmt: skip
    (axes,) = drawn
    cells = {tuple(text.get_position()): text.get_text() for text in axes.texts}  # (column, row)
    assert cells == {(0, 0): "1.0", (1, 0): "2.0", (2, 0): "3.0", (0, 1): "4.0", (1, 1): "5.0", (2, 1): "6.5"}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "0.5", "1"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["low", "high"]
    assert axes.get_ylim() == (-0.5, 1.5)
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("Title", "b", "k1")
    assert pixels(tmp_path / "map.png").std() > 0
    heat_map(np.eye(21), range(21), range(21), tmp_path / "map.png")
    assert not drawn[1].texts  # no room for numbers


def test_bars_stand_side_by_side_with_their_intervals(tmp_path, drawn):
    series, errors = {"x": [1.0, 2.0], "y": [3.0, 4.0]}, {"x": [0, 0], "y": [0.5, 1.0]}
    bar_chart(["A", "B"], series, errors, tmp_path / "bars.png", ylabel="R@200, %")
    (axes,) = drawn
    bars = [(round(bar.get_x(), 6), bar.get_height()) for bar in axes.patches]
    assert bars == [(-0.4, 1.0), (0.6, 2.0), (0.0, 3.0), (1.0, 4.0)]
    whiskers = [line for collection in axes.collections for line in collection.get_segments()]
    assert np.allclose(whiskers[2:], [[[0.2, 2.5], [0.2, 3.5]], [[1.2, 3.0], [1.2, 5.0]]])
    assert (axes.get_ylim()[1] > 5.0, axes.get_ylabel()) == (True, "R@200, %")
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["x", "y"]
