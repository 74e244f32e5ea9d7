import pytest

from statgraph.evaluation.plots import INK, PAPER, new_figure
from statgraph.plotting.drawing import HUES, curve_figure, shortened


def test_no_hue_is_swallowed_by_a_light_or_a_dark_page():
    """3 to 1 is what WCAG 1.4.11 asks of graphics; the two light hues are never the first that are taken."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    for hue in HUES[:3]:
        assert contrast(hue, PAPER) >= 3
        assert contrast(hue, "#17171b") >= 3
    assert contrast(INK, PAPER) >= 7


def test_a_figure_in_the_page_s_ink():
    figure, axes = new_figure(4, 3)
    assert tuple(figure.get_size_inches()) == (4, 3)
    assert axes.xaxis.label.get_color() == INK
    assert not axes.spines["top"].get_visible()


@pytest.mark.parametrize(("length", "text"), [(9, "Code du …"), (10, "Code du t…"), (15, "Code du travail")])
def test_shortened(length, text):
    assert shortened("Code du travail", length) == text.replace(" …", "…")


def test_a_panel_for_each_stage_and_no_name_for_one():
    figure, panels = curve_figure(["stage1", "stage2"], y_name="loss")
    assert list(panels) == ["stage1", "stage2"]
    assert [axes.get_title() for axes in figure.axes] == ["stage1", "stage2"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["loss", ""]
    assert curve_figure(["stage2"], y_name="loss")[0].axes[0].get_title() == ""
