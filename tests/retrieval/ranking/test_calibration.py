import json
import math

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.retrieval.ranking.calibration import Calibration, Evidence, evidence, standardised
from statgraph.retrieval.ranking.candidates import Candidates

QUESTION = {"coverage": 2.0, "nearest": 1.0, "bias": -1.0}
HIT = {"score": 1.0, "margin": 0.0, "gap": -1.0, "rank": -1.0, "agreement": 0.0, "cosine": 0.5, "bias": 0.0}
CALIBRATION = Calibration(QUESTION, HIT, (0.5, 0.1), "by hand")


def candidates_by(**scores):
    """Return candidates by the scores of some signals."""
    raw = np.array(list(scores.values()), dtype=np.float32)
    return Candidates(np.arange(raw.shape[1]), tuple(scores), raw, raw, raw, None)


def test_the_evidence_of_three_hits():
    candidates = candidates_by(words=[0, 4, 2], cosines=[0.75, 0.5, 0.25], citation=[0, 0, 0])

    known = evidence(candidates, np.array([1.0, 2.0, 0.5]), coverage=0.5, dense="cosines")

    assert known.question.tolist() == [0.5, 0.75]
    # By score: the second, the first, the third. The margin is over the mean of those below.
    assert known.hits[:, 0].tolist() == [2, 1, 0.5]
    assert known.hits[:, 1].tolist() == [2 - 0.75, 1 - 0.5, 0]
    assert known.hits[:, 2].tolist() == [0, 1, 1.5]
    assert known.hits[:, 3] == pytest.approx([0, math.log(2), math.log(3)])
    assert known.hits[:, 4].tolist() == [1, 0.5, 1]  # of two signals that say anything; the first shares no word
    assert known.hits[:, 5].tolist() == [0.5, 0.75, 0.25]
    assert known.named.tolist() == [0, 0, 0]


def test_the_evidence_of_a_long_question_is_on_the_scale_of_a_short_one():
    raw = np.array([[1.8, -0.3], [1.2, 0.0]], dtype=np.float32)  # sums over sentences
    own = np.array([[0.75, 0.5], [0.5, 0.0]], dtype=np.float32)
    candidates = Candidates(np.arange(2), ("cosines", "citation"), raw, own, raw, None)

    known = evidence(candidates, np.array([1.0, 0.5]), coverage=0.5, dense="cosines")

    assert known.question.tolist() == [0.5, 0.75]
    assert known.hits[:, 5].tolist() == [0.75, 0.5]
    assert known.named.tolist() == [0.5, 0]


def test_a_question_without_candidates_has_no_hits():
    known = evidence(candidates_by(words=[], cosines=[]), np.zeros(0), coverage=0.0, dense="cosines")
    assert (known.question.tolist(), known.hits.shape) == ([0, 0], (0, 6))
    assert CALIBRATION.probabilities(known).tolist() == []


def test_the_probability_is_the_product_of_two_logistic_functions():
    known = Evidence(np.array([0.5, 0.6]), np.array([[1, 0, 0, 0, 0, 0.7], [0, 0, 1, 1, 0, 0.5]]), np.zeros(2))

    question, hits = standardised(known, (0.5, 0.1))
    assert question == pytest.approx([0.5, 1.0])
    assert hits[:, 5] == pytest.approx([2.0, 0.0])
    about = 1 / (1 + math.exp(-(2 * 0.5 + 1.0 - 1.0)))
    answers = [1 / (1 + math.exp(-(1 + 0.5 * 2))), 1 / (1 + math.exp(2))]
    assert CALIBRATION.probabilities(known) == pytest.approx([about * answer for answer in answers])
    # An article that the question names answers it whatever its words.
    named = Evidence(np.array([0.0, 0.0]), np.zeros((2, 6)), np.array([1.0, 0.5]))
    assert CALIBRATION.probabilities(named).tolist() == [1.0, 0.5]


def test_it_is_written_and_read(tmp_path):
    path = tmp_path / "calibration.json"
    CALIBRATION.write(path)
    assert Calibration.read(path) == CALIBRATION

    saved = json.loads(path.read_text())
    for damaged in ({**saved, "off_topic": [0.5, 0.0]}, {**saved, "hit": {}}, []):
        path.write_text(json.dumps(damaged))
        with pytest.raises(RunError, match=r"calibration\.json.*train the run again"):
            Calibration.read(path)
