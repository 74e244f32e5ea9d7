from statgraph.plotting.drawing import HUES, bars_figure, shortened


def test_bars_are_stacked_and_show_their_totals():
    figure, hovers = bars_figure(["one", "two"], {"train": [3, 0], "test": [1, 2]}, x_name="questions")
    (axes,) = figure.axes
    bars = [(round(bar.get_y() + 0.39, 6), bar.get_x(), bar.get_width()) for bar in axes.patches if bar.get_width()]
    assert bars == [(0, 0, 3), (0, 3, 1), (1, 0, 2)]
    assert [text.get_text() for text in axes.texts] == ["4", "2"]
    assert hovers["bar-1-0"] == ("one, test: 1",)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["train", "test"]


def test_a_single_series_needs_no_key():
    figure, hovers = bars_figure(["a very long name " * 9], {"articles": [1200]}, x_name="articles")
    assert figure.legends == []
    assert list(hovers.values()) == [("a very long name " * 9 + ": 1,200",)]
    (label,) = figure.axes[0].get_yticklabels()
    assert label.get_text().count("\n") == 1
    assert label.get_text().endswith("…")


def test_hues_are_distinct_and_seen_on_light_and_dark():
    assert len(set(HUES)) == 6
    assert not {"#000000", "#F0E442"} & set(HUES)


def test_a_long_text_is_shortened():
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abc def", 5) == "abc…"
