import numpy as np
import pytest

from statgraph.evaluation.significance import Estimate, mean_estimate, paired_difference


def test_interval_of_zeros_and_ones_is_that_of_the_binomial():
    # 400 questions, half right: standard error sqrt(0.25 / 400) = 0.025, so the mean -/+ 1.96 * 0.025 = 0.049.
    estimate = mean_estimate(np.tile([0.0, 1.0], 200), np.random.default_rng(0))
    assert estimate.mean == 0.5
    assert estimate.low == pytest.approx(0.451, abs=0.006)
    assert estimate.high == pytest.approx(0.549, abs=0.006)


def test_one_seed_gives_one_interval():
    values = np.random.default_rng(1).random(30)
    first, again = (mean_estimate(values, np.random.default_rng(7)) for _ in range(2))
    assert first == again
    assert first.low < first.mean < first.high


@pytest.mark.parametrize("values", [[0.25], [0.25, 0.25, 0.25]])
def test_without_variance_the_interval_is_the_value(values):
    assert mean_estimate(np.array(values), np.random.default_rng(0)) == Estimate(0.25, 0.25, 0.25)


def test_no_question_has_no_mean():
    with pytest.raises(ValueError, match="no questions"):
        mean_estimate(np.empty(0), np.random.default_rng(0))


def test_p_value_of_four_gains_is_exact():
    # 2^4 ways to swap; only no swap and all swapped are as extreme as four gains: p = 2 / 16.
    first, second = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, 0.3, 0.6, 0.8])
    found = paired_difference(first, second, np.random.default_rng(0))
    assert found.p_value == pytest.approx(2 / 16)
    assert found.difference.mean == pytest.approx((0.2 + 0.1 + 0.3 + 0.4) / 4)
    assert found.difference.low <= found.difference.mean <= found.difference.high


def test_equal_systems_do_not_differ():
    values = np.array([0.1, 0.9, 0.4])
    found = paired_difference(values, values, np.random.default_rng(0))
    assert found.p_value == 1.0
    assert found.difference == Estimate(0.0, 0.0, 0.0)


def test_one_question_shows_no_difference():
    assert paired_difference(np.array([0.0]), np.array([1.0]), np.random.default_rng(0)).p_value == 1.0


def test_systems_with_different_questions_are_refused():
    with pytest.raises(ValueError, match=r"2 values .* 3 of the other"):
        paired_difference(np.zeros(2), np.zeros(3), np.random.default_rng(0))
