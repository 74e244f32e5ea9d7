import numpy as np
import pytest

from statgraph.plotting import article_map
from statgraph.plotting.article_map import article_map_drawing
from statgraph.runs.article_store import StoredArticle


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
    assert drawing.hovers["code-0"] == ("Art. 0", "Art. 1", "Art. 2", "Art. 3")


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
    monkeypatch.setattr(article_map, "MOST_POINTS", 20)
    codes = [code for number, code in enumerate("ABCDEFG") for _ in range(10 - number)]
    vectors = np.random.default_rng(1).standard_normal((len(codes), 4)).astype(np.float32)
    drawing = article_map_drawing(vectors, articles(codes), projection="pca")
    assert "A random sample of 20 of 49 articles" in drawing.description
    assert [row[0] for row in drawing.rows] == ["A", "B", "C", "D", "E", "2 other codes"]
    assert [row[1] for row in drawing.rows] == [10, 9, 8, 7, 6, 5 + 4]
    assert sum(row[2] for row in drawing.rows) == 20
