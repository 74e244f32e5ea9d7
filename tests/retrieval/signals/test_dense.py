import numpy as np
import pytest

from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.signals.centring import Centre
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import ZERO_SHOT, QuestionBatch


class Axes:
    """Encodes a number as the unit vector of that axis."""

    def encode(self, texts):
        return np.eye(64, dtype=np.float32)[[int(text) for text in texts]]


INDEX = ArticleIndex.build(np.eye(64, dtype=np.float32), [str(row) for row in range(64)], device="cpu")


@pytest.mark.parametrize(("allowed", "first"), [(None, [5, 6]), ([*range(6), *range(7, 64)], [5, 0])])
def test_the_nearest_allowed_articles_are_proposed(allowed, first):
    rows = None if allowed is None else AllowedRows.checked(allowed, 64)
    proposals = DenseSignal("axes", ZERO_SHOT, INDEX, Axes()).propose(QuestionBatch(["5", "6"]), 2, rows)
    assert [int(proposal.candidates.rows[0]) for proposal in proposals] == first
    assert [len(proposal.candidates.rows) for proposal in proposals] == [2, 2]
    assert proposals[1].scores(np.array([6, 7])).tolist() == [1, 0]


def test_what_questions_have_in_common_is_taken_from_each():
    common = np.zeros(64, dtype=np.float32)
    common[[5, 7]] = 2.0, 0.5
    centred = DenseSignal("axes", ZERO_SHOT, INDEX, Axes(), Centre(question=common))
    five, seven = centred.propose(QuestionBatch(["5", "7"]), 1, None)
    assert five.scores(np.array([5, 6, 7])).tolist() == [-1, 0, -0.5]
    assert int(five.candidates.rows[0]) not in (5, 7)
    assert int(seven.candidates.rows[0]) == 7
