import numpy as np
import pytest

from benchmarks.measures.ensemble_query import fused, measure, row_of_letters, rows_of
from benchmarks.settings import Settings
from statgraph import train
from statgraph.errors import RunError
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus


def test_ranks_are_fused_by_their_reciprocals():
    # 1/61 + 1/62 for row 1 in both rankings, 1/61 for 2, 1/62 for 0, and 3 in none.
    assert fused((np.array([1, 0]), np.array([2, 1])), 4).tolist() == [1, 2, 0]


@pytest.mark.parametrize(("ours", "asked_s", "holds"), [(0.010, 0.012, (True, True)), (0.019, 0.012, (False, False))])
def test_the_rows_are_of_the_time_and_of_the_rival(ours, asked_s, holds):
    time, rival = rows_of("one question", asked_s, [ours] * 3, [0.020] * 3, (50.0, 40.0))
    assert (time.holds, rival.holds) == holds
    assert time.asked == "p50 under 12 ms"
    assert "Of 3 dev questions" in time.note
    assert "Quality on dev 50.0, the rival's 40.0" in time.note
    assert rival.reached.startswith("2.0 times" if ours == 0.010 else "1.1 times")
    assert bool(rival.note) != rival.holds


@pytest.mark.parametrize(("letters", "holds"), [(0.050, False), (0.020, True)])
def test_a_letter_is_compared_with_the_bare_question_and_with_the_rival(letters, holds):
    row = row_of_letters("a letter", {"float32": [letters], "plain": [0.060]}, {"float32": [0.010], "plain": [0.030]})
    assert row.holds == holds
    assert row.reached.startswith(f"{letters / 0.010:.1f} times")
    assert "60 ms [60 to 60], 2.0 times [2.0 to 2.0] its own time" in row.note


def test_an_ensemble_is_asked_beside_the_plain_program(tmp_path, sample_run):
    untrained = ["ensemble.members=zero-shot@embedded:static", "ranker.kind=fixed"]
    run = train(read_corpus(sample_folder()), settings=untrained, out=tmp_path / "run")
    time, rival, of_letters = measure(Settings(sample_folder(), run.folder, quick=True, any_commit=True))
    assert "inside a letter of 1" in of_letters.what
    assert len(of_letters.figures["float32"]) == 3
    assert "1 members" in time.what
    assert len(time.figures["seconds"]) == 3
    assert time.figures["quality"][0] > time.figures["quality"][1] > 0
    assert rival.against.startswith("bm25s")
    with pytest.raises(RunError, match="not an ensemble"):
        measure(Settings(sample_folder(), sample_run.folder, quick=True, any_commit=True))
