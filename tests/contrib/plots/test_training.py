import json
import shutil

import numpy as np
import pytest

from statgraph.config import EnsembleConfig, RunConfig
from statgraph.contrib.plots import training
from statgraph.contrib.plots.training import article_map, dev_figure, losses_figure, training_figures
from statgraph.errors import RunError
from statgraph.law.records import Article, Corpus
from statgraph.retrieval.index.article_index import ArticleIndex

LOSSES = [
    {"stage": "stage1", "epoch": 0, "loss": None},
    {"stage": "stage1", "epoch": 1, "loss": 3.0, "step_losses": [4.0, 2.0]},
    {"stage": "stage1", "epoch": 2, "loss": 1.5, "step_losses": [2.0, 1.0]},
]


def curves(axes):
    """Return the points of each line of some axes by what the key calls it."""
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def key(figure):
    """Return the words of the key, which lies below the axes: on top of them it would hide some of their points."""
    assert all(axes.get_legend() is None for axes in figure.axes)
    (legend,) = figure.legends
    return [text.get_text() for text in legend.texts]


def test_loss_by_step():
    figure = losses_figure(LOSSES)
    assert figure.get_suptitle() == "Training loss by step"
    (axes,) = figure.axes
    assert curves(axes) == {
        "each step": [[1, 4], [2, 2], [3, 2], [4, 1]],
        "mean of an epoch": [[1.5, 3.0], [3.5, 1.5]],
    }
    assert key(figure) == ["each step", "mean of an epoch"]


RECORDS = [
    {"stage": "stage1", "epoch": 0, "loss": None, "R@100": 0.2, "quality": 0.3, "mAP": 0.4},
    {"stage": "stage1", "epoch": 1, "loss": 1.0, "R@100": 0.5, "quality": 0.75, "mAP": 0.8},
    {"stage": "stage1", "epoch": 2, "loss": 0.9, "R@100": 0.6, "quality": 0.7, "mAP": 0.9},
    {"stage": "stage2", "epoch": 0, "loss": None, "R@100": 0.5, "quality": 0.75, "mAP": 0.8},
]


def test_metrics_by_epoch_and_the_epoch_kept():
    figure = dev_figure(RECORDS)
    assert figure.get_suptitle() == "Metrics on dev by epoch"
    first, second = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["stage1", "stage2"]
    assert curves(first) == {
        "quality": [[0, 30], [1, 75], [2, 70]],
        "mAP": [[0, 40], [1, 80], [2, 90]],
        "R@100": [[0, 20], [1, 50], [2, 60]],
        "epoch kept": [[1, 0], [1, 1]],
    }
    assert curves(second)["epoch kept"] == [[0, 0], [0, 1]]
    assert key(figure) == ["quality", "mAP", "R@100", "epoch kept"]
    assert first.get_ylim() == second.get_ylim()


@pytest.mark.parametrize(
    ("select_by", "kept", "first_curve"), [("mAP", 2, "mAP"), ("last", 2, "quality"), ("R@200", 1, "quality")]
)
def test_the_epoch_kept_is_that_of_the_run(select_by, kept, first_curve):
    """The corpus is too small for R@200, which quality replaces."""
    first, _ = dev_figure(RECORDS, select_by).axes
    drawn = curves(first)
    assert drawn["epoch kept"] == [[kept, 0], [kept, 1]]
    assert next(iter(drawn)) == first_curve


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
    assert list(training_figures(run, projection="pca")) == ["losses", "dev", "article-map"]


def test_what_a_run_does_not_have_is_not_drawn(run):
    (run / "metrics.jsonl").unlink()
    assert list(training_figures(run, projection="pca")) == ["article-map"]
    shutil.rmtree(run / "index")
    with pytest.raises(RunError, match="'dsr'"):
        training_figures(run)


def test_an_ensemble_names_its_members(write_run, tmp_path):
    ensemble = RunConfig(system="ensemble", retriever="ensemble", ensemble=EnsembleConfig(members=("dsr@a", "dsr@b")))
    write_run(tmp_path, Corpus("c", "en", "CC0", "by hand", (), ()), ensemble)
    with pytest.raises(RunError, match=r"one of its members with run: \S+members/dsr-a, \S+members/dsr-b$"):
        training_figures(tmp_path)


def groups(figure):
    """Return the points of the map by what its key calls them."""
    (axes,) = figure.axes
    return {points.get_label(): np.asarray(points.get_offsets()) for points in axes.collections}


def places(figure):
    return np.concatenate(list(groups(figure).values()))


def test_pca_keeps_a_plane_as_it_is():
    """A rectangle of 4 by 2 in three dimensions: its components are its sides."""
    vectors = np.array([[2, 7, 1], [2, 7, -1], [-2, 7, 1], [-2, 7, -1]], dtype=np.float32)
    figure = article_map(vectors, list("AAAA"), projection="pca")
    assert np.abs(places(figure)) == pytest.approx(np.array([[2.0, 1.0]] * 4))
    assert figure.axes[0].get_title() == "Vectors of 4 articles, by code: PCA (100 % of the variance)"
    assert key(figure) == ["A"]


def test_tsne_keeps_neighbourhoods():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(2, 8), 10, axis=0)
    vectors = (centres + 0.01 * rng.standard_normal((20, 8))).astype(np.float32)
    codes = ["A"] * 10 + ["B"] * 10
    ours = places(article_map(vectors, codes))
    distances = np.linalg.norm(ours[:, None] - ours[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (distances.argmin(axis=1) // 10 == np.arange(20) // 10).all()
    assert places(article_map(vectors, codes)).tolist() == ours.tolist()


def test_the_largest_codes_have_colours_and_a_sample_stands_for_many(monkeypatch):
    monkeypatch.setattr(training, "MOST_POINTS", 20)
    codes = [code for number, code in enumerate("ABCDEFG") for _ in range(10 - number)]
    vectors = np.random.default_rng(1).standard_normal((len(codes), 4)).astype(np.float32)
    figure = article_map(vectors, codes, projection="pca")
    assert figure.axes[0].get_title().startswith("Vectors of 20 of 49 articles, by code: PCA")
    assert key(figure) == list(groups(figure)) == ["A", "B", "C", "D", "E", "2 other codes"]
    assert sum(map(len, groups(figure).values())) == 20
