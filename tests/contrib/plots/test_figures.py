import numpy as np

from statgraph.contrib.plots.figures import bar_chart, heat_map, save_png


def test_a_heat_map_shows_each_value_in_its_cell():
    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
    figure = heat_map(values, ["0", "0.5", "1"], ["low", "high"], title="Title", xlabel="b", ylabel="k1")
    axes = figure.axes[0]
    cells = {tuple(text.get_position()): text.get_text() for text in axes.texts}  # (column, row)
    assert cells == {(0, 0): "1.0", (1, 0): "2.0", (2, 0): "3.0", (0, 1): "4.0", (1, 1): "5.0", (2, 1): "6.5"}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "0.5", "1"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["low", "high"]
    assert axes.get_ylim() == (-0.5, 1.5)
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("Title", "b", "k1")
    assert not heat_map(np.eye(200)).axes[0].texts  # no room for numbers


def test_bars_stand_side_by_side_with_their_intervals():
    series, errors = {"x": [1.0, 2.0], "y": [3.0, 4.0]}, {"x": [0, 0], "y": [0.5, 1.0]}
    (axes,) = bar_chart(["A", "B"], series, errors, ylabel="R@200, %").axes
    bars = [(round(bar.get_x(), 6), bar.get_height()) for bar in axes.patches]
    assert bars == [(-0.4, 1.0), (0.6, 2.0), (0.0, 3.0), (1.0, 4.0)]
    whiskers = [line for collection in axes.collections for line in collection.get_segments()]
    assert np.allclose(whiskers[2:], [[[0.2, 2.5], [0.2, 3.5]], [[1.2, 3.0], [1.2, 5.0]]])
    assert (axes.get_ylim()[1] > 5.0, axes.get_ylabel()) == (True, "R@200, %")
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["x", "y"]


def test_the_same_figure_is_the_same_file(tmp_path):
    from matplotlib.image import imread

    paths = [tmp_path / "new" / name for name in ("a.png", "b.png")]
    for path in paths:
        save_png(heat_map(np.eye(3)), path)
    assert imread(paths[0]).std() > 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
