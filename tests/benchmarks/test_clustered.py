import numpy as np

from benchmarks.clustered import WIDTH, ClusteredVectors


def test_articles_have_length_one_and_neighbours():
    source = ClusteredVectors(2000)
    articles, queries = source.draw(2000, seed=(1, 0)), source.draw(20, seed=(2,))
    assert (articles.shape, articles.dtype) == ((2000, WIDTH), np.float32)
    assert np.allclose(np.linalg.norm(articles, axis=1), 1, atol=1e-5)
    scores = queries @ articles.T
    # Fifty share a section with a query, at cosine 1 / (1 + 0.7^2) = 0.67; the rest have a topic in common at most.
    near = (scores > 0.55).sum(axis=1)
    assert (near >= 20).all()
    assert (near <= 120).all()
    assert np.median(scores) < 0.3


def test_a_seed_gives_the_same_vectors_again():
    once, again, other = (ClusteredVectors(500).draw(5, seed=seed) for seed in ((1, 0), (1, 0), (1, 5)))
    assert (once == again).all()
    assert (once != other).any()
