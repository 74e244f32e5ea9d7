import numpy as np
import pytest

from statgraph.evaluation.metrics import QuestionMetrics
from statgraph.evaluation.significance import (
    Estimate,
    MetricComparison,
    adjusted_p_values,
    compare,
    compare_metrics,
    mean_estimate,
)


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


def metrics_of(*values: float, **others) -> QuestionMetrics:
    return QuestionMetrics({"mAP": np.array(values), **{name: np.array(other) for name, other in others.items()}})


def test_the_value_of_a_question_is_its_mean_over_the_seeds():
    # Baseline means 0.2, 0.3, 0.4, 0.5; gains 0.1, 0.2, 0.3, 0.2. 2^4 swaps, two as extreme: p = 2 / 16.
    baseline = [metrics_of(0.1, 0.2, 0.3, 0.4), metrics_of(0.3, 0.4, 0.5, 0.6)]
    found = compare(baseline, [metrics_of(0.3, 0.5, 0.7, 0.7)], "mAP", np.random.default_rng(0))
    assert found.difference == pytest.approx((0.1 + 0.2 + 0.3 + 0.2) / 4)
    assert found.p_value == pytest.approx(2 / 16)
    assert 0.1 <= found.low < found.difference < found.high <= 0.3
    assert found.n_questions == 4


def test_an_interval_without_zero_is_not_enough_to_be_significant():
    four = compare([metrics_of(0, 0, 0, 0)], [metrics_of(0.1, 0.2, 0.3, 0.2)], "mAP", np.random.default_rng(0))
    assert four.low > 0
    assert not four.significant
    # Eight gains: p = 2 / 2^8.
    eight = compare([metrics_of(*[0] * 8)], [metrics_of(*[0.1, 0.2] * 4)], "mAP", np.random.default_rng(0))
    assert eight.p_value == pytest.approx(2 / 256)
    assert eight.significant


@pytest.mark.parametrize(
    ("baseline", "system", "difference", "significant"),
    [([0.1, 0.2] * 4, [0] * 8, -0.15, True), ([0.5] * 8, [0.4, 0.6] * 4, 0, False)],
)
def test_a_loss_can_be_significant_and_what_cancels_is_not(baseline, system, difference, significant):
    found = compare([metrics_of(*baseline)], [metrics_of(*system)], "mAP", np.random.default_rng(0))
    assert found.difference == pytest.approx(difference)
    assert (found.high < 0, found.significant) == (significant, significant)


def test_equal_seeds_in_another_order_do_not_differ():
    seeds = [metrics_of(*np.random.default_rng(seed).random(12)) for seed in range(3)]
    found = compare(seeds, [seeds[1], seeds[2], seeds[0]], "mAP", np.random.default_rng(0))
    assert (found.difference, found.low, found.high, found.p_value, found.significant) == (0, 0, 0, 1, False)


def test_every_metric_is_compared_and_the_p_values_are_adjusted_for_their_number():
    baseline = metrics_of(*[0] * 8, RP=[0.5] * 8)
    system = metrics_of(*[0.1, 0.2] * 4, RP=[0.4, 0.6] * 4)
    found = compare_metrics([baseline], [system], np.random.default_rng(0))
    assert list(found) == ["mAP", "RP"]
    gain = found["mAP"]
    assert isinstance(gain, MetricComparison)
    assert (gain.baseline_mean, gain.system_mean) == (0, pytest.approx(0.15))
    assert gain.comparison.p_value == pytest.approx(2 / 256)
    # Smaller of two p-values: doubled.
    assert gain.adjusted_p_value == pytest.approx(4 / 256)
    assert found["RP"].adjusted_p_value == found["RP"].comparison.p_value == 1


def test_p_values_are_adjusted_by_rank():
    # Sorted p * 4 / rank: 0.04, 0.04, 0.04, 0.5; none may pass that of a larger p.
    assert adjusted_p_values([0.03, 0.5, 0.01, 0.02]) == pytest.approx([0.04, 0.5, 0.04, 0.04])
    assert adjusted_p_values([0.01, 0.04]) == pytest.approx([0.02, 0.04])
    assert adjusted_p_values([]) == []


@pytest.mark.parametrize(
    ("baseline", "system", "message"),
    [
        ([], [metrics_of(0.1)], "no seeds"),
        ([metrics_of(0.1)], [], "no seeds"),
        ([metrics_of(0.1), metrics_of(0.1, 0.2)], [metrics_of(0.1)], "1 and 2 questions"),
        ([metrics_of(0.1)], [metrics_of(0.1, 0.2)], "1 values of one system, but 2 of the other"),
    ],
)
def test_what_cannot_be_compared_is_refused(baseline, system, message):
    for refuses in (lambda rng: compare(baseline, system, "mAP", rng), lambda r: compare_metrics(baseline, system, r)):
        with pytest.raises(ValueError, match=message):
            refuses(np.random.default_rng(0))


def test_one_question_shows_no_difference():
    assert compare([metrics_of(0.0)], [metrics_of(1.0)], "mAP", np.random.default_rng(0)).p_value == 1.0


def test_a_question_repeated_within_its_cluster_adds_no_certainty():
    rng = np.random.default_rng(3)
    before, after = rng.random(12), rng.random(12)
    single = [QuestionMetrics({"mAP": values}) for values in (before, after)]
    clusters = np.repeat(np.arange(12), 3)
    thrice = [QuestionMetrics({"mAP": np.repeat(values, 3)}, clusters) for values in (before, after)]
    one, three = (compare([a], [b], "mAP", np.random.default_rng(0)) for a, b in (single, thrice))
    assert (three.difference, three.low, three.high, three.p_value) == pytest.approx(
        (one.difference, one.low, one.high, one.p_value)
    )
    assert (one.n_questions, three.n_questions) == (12, 36)
    loose = compare(*([QuestionMetrics(each.values)] for each in thrice), "mAP", np.random.default_rng(0))
    assert loose.high - loose.low < 0.8 * (three.high - three.low)
