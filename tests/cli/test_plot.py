import pytest


def test_pictures_of_a_corpus(ran, town, tmp_path):
    assert ran("plot", "corpus", "--corpus", town).splitlines() == ["plots/corpus-codes.png", "plots/corpus-labels.png"]
    done = ran("plot", "graph", "--corpus", town, "--out", "pictures", "--code", "town")
    assert done.splitlines() == ["pictures/graph-tree.png"]
    assert (tmp_path / "pictures" / "graph-tree.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("projection", ["tsne", "pca"])
def test_pictures_of_a_training(ran, train_town, projection):
    done = ran("plot", "training", "--run", train_town("qabisar"), "--projection", projection)
    assert done.splitlines() == [
        "plots/training-losses.png", "plots/training-dev.png", "plots/training-article-map.png",
    ]  # fmt: skip
