from statgraph.plotting.dev_recall import dev_recall_drawing

RECORDS = [
    {"stage": "stage1", "epoch": 0, "loss": None, "R@100": 0.2, "R@200": 0.3, "R@500": 0.4},
    {"stage": "stage1", "epoch": 1, "loss": 1.0, "R@100": 0.5, "R@200": 0.75, "R@500": 0.8},
    {"stage": "stage1", "epoch": 2, "loss": 0.9, "R@100": 0.6, "R@200": 0.7, "R@500": 0.9},
    {"stage": "stage2", "epoch": 0, "loss": None, "R@100": 0.5, "R@200": 0.75, "R@500": 0.8},
]


def test_recall_by_epoch_and_the_epoch_kept():
    drawing = dev_recall_drawing(RECORDS)
    assert drawing.rows == (
        ("stage1", 0, "20.0", "30.0", "40.0", ""),
        ("stage1", 1, "50.0", "75.0", "80.0", "kept"),
        ("stage1", 2, "60.0", "70.0", "90.0", ""),
        ("stage2", 0, "50.0", "75.0", "80.0", "kept"),
    )
    assert "epoch 1 of stage1, epoch 0 of stage2" in drawing.description
    first, second = drawing.figure.axes
    assert first.get_ylim() == second.get_ylim()
    assert list(first.lines[1].get_ydata()) == [30.0, 75.0, 70.0]


def test_epochs_without_dev_metrics_are_left_out():
    assert len(dev_recall_drawing([*RECORDS, {"stage": "stage2", "epoch": 1, "loss": 1.0}]).rows) == 4
