import csv
from dataclasses import replace

import numpy as np
import pytest

from statgraph.retrieval.ranking.calibration import Calibration, Evidence
from statgraph.systems import calibrating
from statgraph.systems.calibrating import Lesson, fitted, in_a_row, off_topic_questions


def known(coverage, nearest, *scores):
    hits = np.zeros((len(scores), 6))
    hits[:, 0], hits[:, 5] = scores, nearest
    return Evidence(np.array([coverage, nearest]), hits, np.zeros(len(scores)))


def lesson(n_off_topic=100):
    """Return a law whose questions share its words and are near an article, which answers them where it scores 2."""
    questions = [known(0.9 + 0.05 * (place % 2), 0.8, 2.0 if place % 2 else 1.0, 0.0) for place in range(100)]
    relevant = [np.array([place % 2 == 1, False]) for place in range(100)]
    off_topic = [known(0.1 + 0.05 * (place % 2), 0.4 + 0.02 * (place % 2), 2.0) for place in range(n_off_topic)]
    return Lesson(questions, relevant, (), off_topic)


def test_what_is_far_from_the_law_is_improbable_however_high_its_score():
    calibration = fitted([lesson()], "100 dev questions")

    assert calibration.off_topic == pytest.approx((0.41, 0.01))
    near, far = (calibration.probabilities(known(*of, 2.0, 1.0, 0.0)) for of in ((0.95, 0.8), (0.1, 0.4)))
    assert near[0] > 0.8 > 0.3 > near[1]
    assert near[0] > near[1] > near[2]
    assert far.max() < 0.1


def test_a_hair_above_questions_that_are_all_as_near_is_not_near():
    """An encoder that was trained on four articles may have everything off the topic at one cosine."""
    same = Lesson((), (), (), [known(0.0, 0.4, 1.0)] * 100)
    assert same.off_topic_cosine == pytest.approx((0.4, 0.01))
    default = replace(Calibration.read(calibrating.DEFAULT), off_topic=same.off_topic_cosine)
    hair, near = (default.probabilities(known(*of, 1.0, 0.0))[0] for of in ((0.0, 0.401), (1.0, 0.5)))
    assert hair < 0.01 < 0.3 < near


def test_questions_and_those_off_the_topic_count_alike_however_many_they_are():
    few, many = (fitted([lesson(n)], "") for n in (100, 400))
    between = known(0.5, 0.6, 2.0)  # as far from either; only the penalty of the regression differs
    assert few.probabilities(between) == pytest.approx(many.probabilities(between), abs=0.05)


def test_the_default_is_a_calibration_that_wants_words_and_nearness():
    default = Calibration.read(calibrating.DEFAULT)
    assert default.question["coverage"] > 0 < default.question["nearest"]
    assert default.hit["gap"] < 0 < default.hit["margin"]


def test_the_shipped_questions_are_there_in_every_language():
    with calibrating._OFF_TOPIC.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert all(None not in row and all(row.values()) for row in rows)
    for language in rows[0]:
        assert len({row[language] for row in rows}) == len(rows), language


def test_questions_off_the_topic_are_in_the_language_of_the_law_and_in_another():
    long = "Wer zahlt, wenn der Baum des Nachbarn auf mein Haus fällt und niemand versichert ist? " * 4
    for language, others in (("de", "How do I bake"), ("en", "Comment faire"), ("pt", "How do I bake")):
        made = off_topic_questions(language, [long], np.random.default_rng(0))
        assert any(question.startswith(others) for question in made)
        joined, shuffled = made[-2:]
        models = [len(model) for model in in_a_row([long], np.random.default_rng(0))]
        assert set(models) == {n * len(long) + n - 1 for n in (1, 2)}  # a third would pass 1,000 characters
        lengths = [len(each) for each in made[-64::2]]
        assert all(0 <= length - model < 30 for length, model in zip(lengths, models, strict=True))
        assert len(joined) == lengths[-1]
        assert (len(shuffled), sorted(shuffled)) == (100, sorted(long[:100]))
    assert off_topic_questions("de", [long], np.random.default_rng(0))[0] == "Wie backe ich ein Sauerteigbrot?"


def test_without_dev_questions_the_shipped_ones_say_how_long_they_are():
    lengths = [len(question) for question in off_topic_questions("de", [], np.random.default_rng(0))]
    assert min(lengths) < 40
    assert max(lengths) > 240
