import threading

import pytest

from benchmarks.measures.callers import CALLERS, ask_all, measure, rate_text, row_of
from benchmarks.settings import Settings
from statgraph.corpus.catalogue import sample_folder


def row(ours, plain):
    return row_of("many", ours, plain, n_questions=6, overlapping=0.95, batch_sizes=[1, 4])


def test_the_row_says_what_holds():
    found = row([1.0, 2.0, 3.0], [3.0, 8.0, 9.0])
    assert (found.reached, found.holds) == ("3.0 times [3.0 to 4.0]", True)
    assert row([1.0], [2.9]).holds is False
    assert "ours 3 [2 to 6], the rival's 1 [1 to 2]; 6 dev questions" in found.note
    assert "2.5 questions a batch on average. The 10 hits are the same to 95.0%." in found.note


def test_a_rate_is_questions_by_seconds():
    assert rate_text(10, [0.1, 0.2, 0.05]) == "100 [50 to 200]"


def test_all_callers_ask_at_once():
    together = threading.Barrier(CALLERS)

    def search(question):
        together.wait(30)  # passes only once as many ask
        return [question]

    assert ask_all(search, list("abcdefghijklmnop")) == [[letter] for letter in "abcdefghijklmnop"]


def test_a_run_of_the_sample_is_measured(sample_run):
    (only,) = measure(Settings(sample_folder(), sample_run.folder, quick=True))
    assert only.what.startswith("16 callers at once, run loaded: valmere, 321 articles")
    assert only.figures["questions"] == 3
    assert only.figures["top_10_overlap"] == pytest.approx(1.0)
    assert sum(only.figures["batch_sizes"]) == 9  # a first round, one to warm up, one that counts
