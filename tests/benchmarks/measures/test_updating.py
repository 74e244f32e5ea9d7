import numpy as np
import pytest

from benchmarks.measures.updating import amended, measure, row_of
from benchmarks.settings import Settings
from statgraph.corpus.catalogue import sample_folder


def test_the_row_says_what_holds():
    row = row_of("one", [1.0, 2.0, 4.0], [30.0, 44.0, 84.0], 1e-6, 1.0, "Whole.")
    assert (row.reached, row.holds) == ("22.0 times [21.0 to 30.0]", True)
    assert row.note.startswith("Whole. The update took 2 s [1 to 4], the re-index 44 s [30 to 84].")


@pytest.mark.parametrize(("seconds", "difference", "same"), [(19.0, 0.0, 1.0), (30.0, 1e-3, 1.0), (30.0, 0.0, 0.99)])
def test_neither_slow_nor_other_results_hold(seconds, difference, same):
    assert row_of("one", [1.0], [seconds], difference, same, "").holds is False


def test_one_article_in_a_hundred_is_amended(town_corpus):
    new = amended(town_corpus, np.random.default_rng(0))
    changed = [
        (now.text, then.text)
        for now, then in zip(new.articles, town_corpus.articles, strict=True)
        if now.text != then.text
    ]
    assert len(changed) == 1
    assert changed[0][0].startswith(changed[0][1])


def test_a_run_of_the_sample_gives_a_row(sample_run):
    (row,) = measure(Settings(sample_folder(), sample_run.folder, quick=True))
    assert row.figures["difference"] < 1e-5
    assert row.figures["same_hits"] == 1.0
