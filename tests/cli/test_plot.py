import pytest

from statgraph.cli.plot import PROJECTIONS
from statgraph.contrib.plots import training


def test_pictures_of_a_corpus(run_here, town, tmp_path):
    done = run_here("plot", "graph", "--corpus", town, "--out", "pictures", "--code", "town")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["pictures/graph.html", "pictures/graph-tree.png"]
    assert "<h1>Graph of town</h1>" in (tmp_path / "pictures" / "graph.html").read_text()


def test_pictures_of_a_training(run_here, train_town, tmp_path):
    done = run_here("plot", "training", "--run", train_town("qabisar"), "--projection", "pca")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "plots/training.html", "plots/training-losses.png", "plots/training-dev.png",
        "plots/training-article-map.png",
    ]  # fmt: skip
    assert "every step" in (tmp_path / "plots" / "training.html").read_text()


def test_the_projections_are_those_there_are():
    assert tuple(training.PROJECTIONS) == PROJECTIONS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("corpus", "--code", "x"), "--code: only for graph, not corpus; omit it"),
        (("graph", "--run", "r"), "--run: graph is plotted from a corpus; name it with --corpus"),
        (("training", "--corpus", "c"), "--corpus: training is plotted from a run; name it with --run"),
        (("graph", "--code", "Sea"), "code 'Sea': not in the corpus; choose from Family Code, Housing Code, Work Code"),
    ],
)
def test_options_that_do_not_fit(refused, options, message):
    assert refused("plot", *options, code=2) == message


def test_a_run_of_bm25_has_nothing_to_draw(refused, train_town):
    bm25_run = train_town("bm25")
    assert refused("plot", "training", "--run", bm25_run) == (
        f"{bm25_run}: nothing to plot, since system 'bm25' has no training and no vectors; choose another run"
    )
