import json
import shutil

import numpy as np
import pytest

from statgraph.config import RunConfig
from statgraph.corpus.records import Article, Corpus
from statgraph.errors import RunError
from statgraph.index.article_index import ArticleIndex
from statgraph.plotting.training_pictures import dev_drawing, losses_drawing, training_drawings

LOSSES = [
    {"stage": "stage1", "epoch": 0, "loss": None},
    {"stage": "stage1", "epoch": 1, "loss": 3.0, "step_losses": [4.0, 2.0]},
    {"stage": "stage1", "epoch": 2, "loss": 1.5, "step_losses": [2.0, 1.0]},
]


def test_loss_by_step():
    drawing = losses_drawing(LOSSES)
    assert drawing.title == "Training loss by step"
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
    records = [{key: value for key, value in record.items() if key != "step_losses"} for record in LOSSES]
    drawing = losses_drawing(records)
    assert "kept no loss of single steps" in drawing.description
    assert drawing.title == "Training loss by epoch"
    assert drawing.figure.axes[0].collections[0].get_offsets().tolist() == [[1.0, 3.0], [2.0, 1.5]]


RECORDS = [
    {"stage": "stage1", "epoch": 0, "loss": None, "R@100": 0.2, "quality": 0.3, "mAP": 0.4},
    {"stage": "stage1", "epoch": 1, "loss": 1.0, "R@100": 0.5, "quality": 0.75, "mAP": 0.8},
    {"stage": "stage1", "epoch": 2, "loss": 0.9, "R@100": 0.6, "quality": 0.7, "mAP": 0.9},
    {"stage": "stage2", "epoch": 0, "loss": None, "R@100": 0.5, "quality": 0.75, "mAP": 0.8},
]


def test_metrics_by_epoch_and_the_epoch_kept():
    drawing = dev_drawing(RECORDS, "quality")
    assert drawing.columns == ("stage", "epoch", "quality", "mAP", "R@100", "")
    assert drawing.rows == (
        ("stage1", 0, "30.0", "40.0", "20.0", ""),
        ("stage1", 1, "75.0", "80.0", "50.0", "kept"),
        ("stage1", 2, "70.0", "90.0", "60.0", ""),
        ("stage2", 0, "75.0", "80.0", "50.0", "kept"),
    )
    assert "epoch 1 of stage1, epoch 0 of stage2" in drawing.description
    assert drawing.title == "Metrics on dev by epoch"  # whether they rose is for the picture to say
    first, second = drawing.figure.axes
    (key,) = drawing.figure.legends  # beside the curves: on top of them it would hide some
    assert [text.get_text() for text in key.texts] == ["quality", "mAP", "R@100", "kept"]
    assert first.get_legend() is None
    assert first.get_ylim() == second.get_ylim()
    assert list(first.lines[0].get_ydata()) == [30.0, 75.0, 70.0]


def test_epochs_without_dev_metrics_are_left_out():
    assert len(dev_drawing([*RECORDS, {"stage": "stage2", "epoch": 1, "loss": 1.0}], "mAP").rows) == 4


@pytest.fixture
def run(write_run, tmp_path):
    """Return a folder with what the drawings read of a finished run."""
    articles = tuple(Article(str(row), f"Art. {row}", "", ("Code",), row) for row in range(6))
    corpus = Corpus("c", "en", "CC0", "by hand", articles, ())
    write_run(tmp_path, corpus, RunConfig(system="dsr"))
    lines = [{"stage": "stage1", "epoch": epoch, "loss": epoch or None, "R@200": 0.5} for epoch in (0, 1)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ArticleIndex.build(np.eye(6, dtype=np.float32), list("012345"), device="cpu").save(tmp_path / "index")
    return tmp_path


def test_a_run(run):
    drawings = training_drawings(run, projection="pca")
    assert [drawing.name for drawing in drawings] == ["losses", "dev", "article-map"]
    assert drawings[-1].rows == (("Code", 6, 6),)
    assert "that of the highest R@200" in drawings[1].description  # what statgraph 0.1 chose by


def test_what_a_run_does_not_have_is_not_drawn(run):
    (run / "metrics.jsonl").unlink()
    assert [drawing.name for drawing in training_drawings(run, projection="pca")] == ["article-map"]
    shutil.rmtree(run / "index")
    with pytest.raises(RunError, match="'dsr'"):
        training_drawings(run)
