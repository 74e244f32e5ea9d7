import numpy as np
import pytest
from scipy.stats import rankdata

from statgraph.negatives.fusion import competition_ranks, reciprocal_ranks


@pytest.mark.parametrize(
    ("distances", "ranks"),
    [
        ([3, 1, 1, 2], [4, 1, 1, 3]),
        ([5, 5, 5], [1, 1, 1]),
        ([7], [1]),
        ([], []),
        ([-0.5, 2.0, -0.5, -9.0, 2.0], [2, 4, 2, 1, 4]),
    ],
)
def test_ties_share_the_best_rank(distances, ranks):
    assert competition_ranks(np.array(distances)).tolist() == ranks


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_ranks_are_those_of_scipy(dtype):
    distances = np.random.default_rng(0).integers(-50, 50, 1_000).astype(dtype)
    assert competition_ranks(distances).tolist() == rankdata(distances, method="min").tolist()


def test_reciprocal_ranks_add_up_to_the_fused_score():
    by_tree, by_order = np.array([2, 4, 3, 3]), np.array([0.5, 0.1, 0.9, 0.2])  # ranks 1 4 2 2 and 3 1 4 2
    fused = reciprocal_ranks(by_tree, 60) + reciprocal_ranks(by_order, 60)
    assert fused == pytest.approx([1 / 61 + 1 / 63, 1 / 64 + 1 / 61, 1 / 62 + 1 / 64, 1 / 62 + 1 / 62], rel=1e-6)
    assert fused.dtype == np.float32


def test_rrf_k_dampens_the_lead_of_the_first():
    assert reciprocal_ranks(np.array([1, 2]), 0) == pytest.approx([1, 1 / 2])
    assert reciprocal_ranks(np.array([1, 2]), 9) == pytest.approx([1 / 10, 1 / 11])


@pytest.mark.parametrize(
    ("distances", "dtype", "ranks"),
    [
        ([100, -100, 100, 0], np.int8, [3, 1, 3, 2]),  # 200 apart, more than int8 holds
        ([2**62, -(2**62), 0], np.int64, [3, 1, 2]),  # too far apart to be counted
        ([7, 5, 6, 5], np.int16, [4, 1, 3, 1]),
    ],
)
def test_whole_numbers_near_and_far_apart(distances, dtype, ranks):
    assert competition_ranks(np.array(distances * 100, dtype=dtype)).tolist()[: len(ranks)] == [
        (rank - 1) * 100 + 1 for rank in ranks
    ]
