import numpy as np
import pytest

from statgraph.graph.smoothing import smoothed

# Articles 0 and 1 under one heading, 2 under another; 2 cites 0.
SECTION = np.array([0, 0, 1])
CITED, STARTS = np.array([0]), np.array([0, 0, 0, 1])
VECTORS = np.eye(3, dtype=np.float32)


def unit(*components):
    return pytest.approx(np.array(components) / np.linalg.norm(components), abs=1e-6)


def test_an_article_takes_from_its_heading_from_those_that_cite_it_and_from_those_that_it_cites():
    found = smoothed(VECTORS, SECTION, CITED, STARTS, 0.5)
    share = 0.5 * 0.5**0.5  # of the heading's mean (1, 1, 0), at unit length
    assert found[0] == unit(1 + share, share, 0.2)  # cited by 2
    assert found[1] == unit(share, 1 + share, 0)
    assert found[2] == unit(0.1, 0, 1 + 0.5)  # cites 0, alone under its heading


def test_weight_0_leaves_the_vectors():
    assert np.array_equal(smoothed(VECTORS, SECTION, CITED, STARTS, 0), VECTORS)
