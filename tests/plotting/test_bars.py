import numpy as np
import pytest
from matplotlib.colors import to_hex

from statgraph.plotting.bars import doubling_counts, lying_bars, upright_bars
from statgraph.plotting.drawing import HUES


def test_series_are_piled_up_under_their_sum():
    figure, hovers = upright_bars(["1", "2"], {"train": [3, 0], "dev": [1, 2]}, x_name="articles", y_name="questions")
    (axes,) = figure.axes
    bars = {patch.get_gid(): (patch.get_y(), patch.get_height()) for patch in axes.patches if patch.get_gid()}
    assert bars == {"bar-0-0": (0, 3), "bar-1-0": (3, 1), "bar-1-1": (0, 2)}
    assert [text.get_text() for text in axes.texts] == ["4", "2"]
    assert hovers == {
        "bar-0-0": ("articles 1, train: 3",), "bar-1-0": ("articles 1, dev: 1",), "bar-1-1": ("articles 2, dev: 2",),
    }  # fmt: skip


def test_a_single_bar_does_not_fill_the_picture():
    figure, _ = upright_bars(["4"], {"articles": [321]}, x_name="x", y_name="y")
    assert figure.axes[0].get_xlim() == (-3, 3)
    assert figure.axes[0].get_legend() is None


def test_lying_bars_go_downwards():
    figure, hovers = lying_bars(["long", "short"], [1200, 3], x_name="articles")
    (axes,) = figure.axes
    assert [patch.get_width() for patch in axes.patches] == [1200, 3]
    assert figure.legends == []
    assert axes.yaxis_inverted()
    assert hovers["bar-0"] == ("long: 1,200",)
    with pytest.raises(ValueError, match="zip"):
        lying_bars(["one"], [1, 2], x_name="")


def test_a_long_name_has_two_lines():
    name = "Code des relations entre le public et l'administration"
    figure, _ = lying_bars([name, "short"], [2, 1], x_name="")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Code des relations entre le public et\nl'administration", "short"]


def test_every_colour_of_lying_bars_is_in_the_key():
    colours = {"on": HUES[1], "off": HUES[2], "never": HUES[3]}
    figure, _ = lying_bars(["a", "b", "c"], [3, 2, 1], x_name="", kinds=["on", "off", "on"], colours=colours)
    drawn = [to_hex(patch.get_facecolor()).upper() for patch in figure.axes[0].patches[:3]]
    assert drawn == [HUES[1], HUES[2], HUES[1]]
    (key,) = figure.legends
    named = {
        text.get_text(): to_hex(patch.get_facecolor()).upper()
        for text, patch in zip(key.texts, key.get_patches(), strict=True)
    }
    assert named == {"on": HUES[1], "off": HUES[2]}


@pytest.mark.parametrize(
    ("values", "names", "counts"),
    [
        ([0, 0, 1, 2, 3, 4, 7, 8], ["0", "1", "2–3", "4–7", "8–15"], [2, 1, 2, 2, 1]),
        ([5, 40], ["4–7", "8–15", "16–31", "32–63"], [1, 0, 0, 1]),
        ([1024], ["1,024–2,047"], [1]),
        ([], [], []),
    ],
)
def test_intervals_that_double(values, names, counts):
    assert doubling_counts(np.array(values, dtype=np.int64)) == (names, counts)
