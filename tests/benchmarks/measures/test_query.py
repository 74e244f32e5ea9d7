import numpy as np
import pytest

from benchmarks.measures.query import fused, measure, row_of_letters, rows_of
from benchmarks.measuring import Settings
from statgraph import train
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus


def test_ranks_are_fused_by_their_reciprocals():
    # 1/61 + 1/62 for row 1 in both rankings, 1/61 for 2, 1/62 for 0, and 3 in none.
    assert fused((np.array([1, 0]), np.array([2, 1])), 4).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("ours", "reached", "times"),
    [
        ([0.004, 0.006, 0.02], "6 ms [4 to 20]", "3.0 times [1.0 to 5.0]"),
        ([0.012, 0.03, 0.02], "20 ms [12 to 30]", "1.0 times [1.0 to 1.0]"),
    ],
)
def test_a_question_has_a_row_of_its_time_and_one_beside_the_rival(ours, reached, times):
    rows = rows_of("one", "rival", {"seconds": ours, "plain_seconds": [0.012, 0.03, 0.02]}, "Good.")
    assert [(row.against, row.reached) for row in rows] == [("", reached), ("rival", times)]
    assert rows[0].note.startswith("Of 3 dev questions, each after 50 ms of rest. The rival's median is 20 ms")


def test_a_letter_is_compared_with_the_bare_question_and_with_the_rival():
    bare = {"seconds": [0.010], "plain_seconds": [0.030]}
    row = row_of_letters("a letter", {"seconds": [0.050], "plain_seconds": [0.060]}, bare)
    assert (row.against, row.reached) == ("the bare question", "5.0 times [5.0 to 5.0]")
    assert "60 ms [60 to 60], 2.0 times [2.0 to 2.0] its own time" in row.note


def test_an_ensemble_is_asked_beside_the_plain_program(tmp_path):
    untrained = ["ensemble.members=zero-shot@embedded:static", "ranker.learnt=false"]
    run = train(read_corpus(sample_folder()), settings=untrained, out=tmp_path / "run")
    time, rival, of_letters = measure(Settings(sample_folder(), run.folder, quick=True))
    assert time.what.endswith(", 1 member")
    assert len(time.figures["seconds"]) == 3
    assert rival.against.startswith("bm25s")
    assert "inside a letter of 1" in of_letters.what
