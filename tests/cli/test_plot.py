from statgraph.cli.plot import PROJECTIONS
from statgraph.contrib.plots import training


def test_pictures_of_a_corpus(ran, town, tmp_path):
    done = ran("plot", "graph", "--corpus", town, "--out", "pictures", "--code", "town")
    assert done.splitlines() == ["pictures/graph.html", "pictures/graph-tree.png"]
    assert "<h1>Graph of town</h1>" in (tmp_path / "pictures" / "graph.html").read_text()


def test_pictures_of_a_training(ran, train_town, tmp_path):
    done = ran("plot", "training", "--run", train_town("qabisar"), "--projection", "pca")
    assert done.splitlines() == [
        "plots/training.html", "plots/training-losses.png", "plots/training-dev.png",
        "plots/training-article-map.png",
    ]  # fmt: skip
    assert "every step" in (tmp_path / "plots" / "training.html").read_text()


def test_the_projections_are_those_there_are():
    assert tuple(training.PROJECTIONS) == PROJECTIONS
