import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.signals.signal import AllScores, Asked


def test_candidates_are_what_scores_above_zero():
    answer = AllScores(np.array([0.0, 2.0, 3.0, 2.0], dtype=np.float32))

    rows, scores = answer.best(10, None)
    assert (rows.tolist(), scores.tolist()) == ([2, 1, 3], [3.0, 2.0, 2.0])
    assert answer.best(1, AllowedRows.checked([0, 1, 3], 4))[0].tolist() == [1]
    assert answer.scores(np.array([0, 3])).tolist() == [0.0, 2.0]


def test_questions_are_encoded_once():
    class Encoder:
        calls = 0

        def encode(self, texts):
            self.calls += 1
            return np.ones((len(texts), 2), dtype=np.float32)

    asked, encoder = Asked(["Who?", "Why?"]), Encoder()

    assert asked.vectors(encoder).shape == asked.vectors(encoder).shape == (2, 2)
    assert encoder.calls == 1
