import numpy as np
import pytest

from statgraph.negatives.buckets import bucket_numbers


@pytest.mark.parametrize(
    ("scores", "buckets", "numbers"),
    [
        ([0.6, 0.1, 0.5, 0.2, 0.4, 0.3], 3, [2, 0, 2, 0, 1, 1]),
        ([0.6, 0.1, 0.5, 0.2, 0.4, 0.3], 1, [0, 0, 0, 0, 0, 0]),
        ([7, 6, 5, 4, 3, 2, 1], 3, [2, 2, 2, 1, 1, 0, 0]),  # bounds 0, 2, 4, 7
        ([3, 9], 3, [1, 2]),  # the easy bucket is empty
        ([3], 5, [4]),
    ],
)
def test_equal_buckets_from_easy_to_difficult(scores, buckets, numbers):
    assert bucket_numbers(np.array(scores, dtype=np.float32), buckets).tolist() == numbers


def test_ties_at_a_cut_go_by_place():
    assert bucket_numbers(np.array([1, 1, 1, 1, 1, 1]), 3).tolist() == [0, 0, 1, 1, 2, 2]
    assert bucket_numbers(np.array([2, 1, 2, 0, 2, 2]), 3).tolist() == [1, 0, 1, 0, 2, 2]


@pytest.mark.parametrize("buckets", [1, 2, 3, 7, 40])
def test_numbers_are_those_of_a_stable_sort(buckets):
    for n_scores in (1, 5, 33, 100):
        scores = np.random.default_rng(n_scores).integers(0, 20, n_scores).astype(np.float32)
        numbers = bucket_numbers(scores, buckets)
        assert (np.diff(numbers[np.argsort(scores, kind="stable")]) >= 0).all()
        sizes = np.bincount(numbers, minlength=buckets)
        assert len(sizes) == buckets
        assert sizes.max() - sizes.min() <= 1
        assert sizes[-1] == sizes.max()
