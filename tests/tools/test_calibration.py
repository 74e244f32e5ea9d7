import numpy as np
import pytest

from statgraph.retrieval.ranking.calibration import HIT_EVIDENCE, Evidence
from statgraph.systems.calibrating import Lesson
from tools.calibration import (
    Measured,
    auroc,
    expected_calibration_error,
    joined,
    noise,
    off_topic_questions,
    report,
)
from tools.official_acts import small_laws


def test_the_error_is_the_distance_of_each_bin_by_its_size():
    # Two bins of ten: two of 0.25, of which half answer, and one of 0.9 that does.
    probabilities, labels = np.array([0.25, 0.25, 0.9]), np.array([True, False, True])
    assert expected_calibration_error(probabilities, labels) == pytest.approx((2 * 0.25 + 1 * 0.1) / 3)
    assert expected_calibration_error(np.array([1.0, 0.0]), np.array([True, False])) == 0


def test_certain_probabilities_have_no_error_by_chance():
    assert noise(np.array([0.0, 1.0])) == 0
    assert noise(np.array([0.5, 0.5])) == pytest.approx(0.25, abs=0.05)  # 0.5 or 0, each as often


def test_equal_ones_count_half():
    assert auroc(np.array([0.5, 0.9]), np.array([0.5, 0.1])) == pytest.approx((0.5 + 1 + 1 + 1) / 4)


def test_the_questions_are_in_the_language_and_in_another():
    assert off_topic_questions("fr")[0] == "Quelle est la capitale de la Mongolie ?"
    assert off_topic_questions("pt")[0] == "What is the capital of Mongolia?"
    assert len(set(off_topic_questions("zh"))) == len(off_topic_questions("zh"))


def test_a_law_is_a_row():
    law = Measured("law", np.array([0.8]), np.array([True]), np.array([0.9]), np.array([0.0, 0.95]))
    assert report(law) == ["law", "1", "0.500", "0.200", f"{noise(np.array([0.8])):.3f}", "0.800", "1.000"]


def test_laws_are_joined_each_in_its_own_units():
    def known(cosine):
        return Evidence(np.array([0.5, cosine]), np.full((1, len(HIT_EVIDENCE)), cosine), np.zeros(1))

    near, far = (
        Lesson([known(mean + 2 * std)], [np.array([True])], [], [known(mean - std), known(mean + std)])
        for mean, std in ((0.8, 0.1), (0.3, 0.05))
    )
    both = joined([near, far])
    assert both.off_topic_cosine == pytest.approx((0, 1))
    assert [tuple(one.question) for one in both.questions] == [pytest.approx((0.5, 2))] * 2
    assert [one.hits[0, HIT_EVIDENCE.index("cosine")] for one in both.questions] == pytest.approx([2, 2])
    assert len(both.relevant) == 2


def test_small_laws_have_dev_questions_with_their_articles(tmp_path):
    laws = small_laws(tmp_path)
    shown = [next(laws) for _ in range(8)]  # the others need files that are not part of the project
    assert [len(law.split("dev")) for law in shown] == [20, 20, 8, 8, 8, 8, 8, 8]
    known = {article.article_id: article for article in shown[2].articles}
    assert [known[each].number for each in shown[2].split("dev")[0].article_ids] == ["Art. 7"]
