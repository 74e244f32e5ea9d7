import pytest

from statgraph.plotting.losses import losses_drawing

RECORDS = [
    {"stage": "stage1", "epoch": 0, "loss": None},
    {"stage": "stage1", "epoch": 1, "loss": 3.0, "step_losses": [4.0, 2.0]},
    {"stage": "stage1", "epoch": 2, "loss": 1.5, "step_losses": [2.0, 1.0]},
]


def test_loss_by_step():
    drawing = losses_drawing(RECORDS)
    assert drawing.rows == (("stage1", 1, 2, "3.0000"), ("stage1", 2, 4, "1.5000"))
    (axes,) = drawing.figure.axes
    each, mean = axes.lines
    assert list(each.get_xdata()) == [1, 2, 3, 4]
    assert list(each.get_ydata()) == [4, 2, 2, 1]
    assert list(mean.get_ydata()) == pytest.approx([4, 8 / 3, 5 / 3, 1])
    assert axes.collections[0].get_offsets().tolist() == [[1.5, 3.0], [3.5, 1.5]]


def test_the_running_mean_is_of_the_steps_on_both_sides():
    record = {"stage": "s", "epoch": 1, "loss": 1.0, "step_losses": [26.0, *[1.0] * 39]}
    mean = losses_drawing([record]).figure.axes[0].lines[1].get_ydata()
    assert mean[0] == pytest.approx(26.0)
    assert mean[12] == pytest.approx(2.0)  # 26 and 24 ones over 25
    assert list(mean[13:]) == pytest.approx([1.0] * 27)


def test_the_running_mean_of_a_loss_that_falls_evenly_is_that_loss():
    losses = [float(loss) for loss in range(60, 0, -1)]
    mean = losses_drawing([{"stage": "s", "epoch": 1, "loss": 1.0, "step_losses": losses}]).figure.axes[0].lines[1]
    assert list(mean.get_ydata()) == pytest.approx(losses)


def test_a_run_that_kept_epochs_alone():
    records = [{key: value for key, value in record.items() if key != "step_losses"} for record in RECORDS]
    drawing = losses_drawing(records)
    assert "kept no loss of single steps" in drawing.description
    assert drawing.figure.axes[0].collections[0].get_offsets().tolist() == [[1.0, 3.0], [2.0, 1.5]]
