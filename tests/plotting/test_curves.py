from statgraph.plotting.curves import curve_figure


def test_a_panel_for_each_stage():
    figure, panels = curve_figure(["stage1", "stage2"], y_name="loss")
    assert list(panels) == ["stage1", "stage2"]
    assert [axes.get_title() for axes in figure.axes] == ["stage1", "stage2"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["loss", ""]


def test_one_stage_needs_no_name():
    figure, _ = curve_figure(["stage2"], y_name="loss")
    assert figure.axes[0].get_title() == ""
