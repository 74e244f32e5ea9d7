import json
import shutil

import numpy as np
import pytest

from statgraph.config import RunConfig
from statgraph.contrib.plots import training
from statgraph.contrib.plots.training import article_map_drawing, dev_drawing, losses_drawing, training_drawings
from statgraph.errors import RunError
from statgraph.law.records import Article, Corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.runs.article_store import StoredArticle

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
    assert list(mean.get_ydata()) == [3.0, 1.5]
    assert axes.collections[0].get_offsets().tolist() == [[1.5, 3.0], [3.5, 1.5]]


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


@pytest.fixture
def run(write_run, tmp_path):
    """Return a folder with what the drawings read of a finished run."""
    articles = tuple(Article(str(row), f"Art. {row}", "", ("Code",), row) for row in range(6))
    corpus = Corpus("c", "en", "CC0", "by hand", articles, ())
    write_run(tmp_path, corpus, RunConfig(system="dsr"))
    untrained = {"stage": "stage1", "epoch": 0, "loss": None, "quality": 0.5}
    lines = [untrained, untrained | {"epoch": 1, "loss": 1.0, "step_losses": [1.0]}]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ArticleIndex.build(np.eye(6, dtype=np.float32), list("012345"), device="cpu").save(tmp_path / "index")
    return tmp_path


def test_a_run(run):
    drawings = training_drawings(run, projection="pca")
    assert [drawing.name for drawing in drawings] == ["losses", "dev", "article-map"]
    assert drawings[-1].rows == (("Code", 6, 6),)
    assert "that of the highest quality" in drawings[1].description


def test_what_a_run_does_not_have_is_not_drawn(run):
    (run / "metrics.jsonl").unlink()
    assert [drawing.name for drawing in training_drawings(run, projection="pca")] == ["article-map"]
    shutil.rmtree(run / "index")
    with pytest.raises(RunError, match="'dsr'"):
        training_drawings(run)


def articles(codes):
    return [StoredArticle(str(row), f"Art. {row}", "", (code,)) for row, code in enumerate(codes)]


def places(drawing):
    return np.concatenate([np.asarray(points.get_offsets()) for points in drawing.figure.axes[0].collections])


def test_pca_keeps_a_plane_as_it_is():
    """A rectangle of 4 by 2 in three dimensions: its components are its sides."""
    vectors = np.array([[2, 7, 1], [2, 7, -1], [-2, 7, 1], [-2, 7, -1]], dtype=np.float32)
    drawing = article_map_drawing(vectors, articles("AAAA"), projection="pca")
    assert np.abs(places(drawing)) == pytest.approx(np.array([[2.0, 1.0]] * 4))
    assert "100 % of the variance" in drawing.description
    assert drawing.rows == (("A", 4, 4),)
    (points,) = drawing.figure.axes[0].collections
    assert points.get_urls() == ["Art. 0", "Art. 1", "Art. 2", "Art. 3"]


def test_tsne_keeps_neighbourhoods():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(2, 8), 10, axis=0)
    vectors = (centres + 0.01 * rng.standard_normal((20, 8))).astype(np.float32)
    drawing = article_map_drawing(vectors, articles("A" * 10 + "B" * 10))
    ours = places(drawing)
    distances = np.linalg.norm(ours[:, None] - ours[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (distances.argmin(axis=1) // 10 == np.arange(20) // 10).all()
    assert places(article_map_drawing(vectors, articles("A" * 10 + "B" * 10))).tolist() == ours.tolist()


def test_the_largest_codes_have_colours_and_a_sample_stands_for_many(monkeypatch):
    monkeypatch.setattr(training, "MOST_POINTS", 20)
    codes = [code for number, code in enumerate("ABCDEFG") for _ in range(10 - number)]
    vectors = np.random.default_rng(1).standard_normal((len(codes), 4)).astype(np.float32)
    drawing = article_map_drawing(vectors, articles(codes), projection="pca")
    assert "A random sample of 20 of 49 articles" in drawing.description
    assert [row[0] for row in drawing.rows] == ["A", "B", "C", "D", "E", "2 other codes"]
    assert [row[1] for row in drawing.rows] == [10, 9, 8, 7, 6, 5 + 4]
    assert sum(row[2] for row in drawing.rows) == 20
