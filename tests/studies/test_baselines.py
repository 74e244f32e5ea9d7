from dataclasses import replace

import numpy as np
import pytest

from statgraph.studies.baselines import BASELINES, BaselineRuns, expanded, word_counts
from statgraph.studies.running import planned_runs
from statgraph.studies.spec import RowSpec, TableSpec, read_table, table_names
from statgraph.studies.store import RunStore


@pytest.fixture
def words(town_corpus):
    return word_counts(town_corpus, stop_words=True)


@pytest.fixture
def questions(town_corpus):
    return [question.text for question in town_corpus.questions]


@pytest.fixture
def result(town_corpus, tmp_path):
    """Return a function that carries out one row of a table on the town."""

    def carried_out(row, *settings):
        (planned,) = planned_runs(TableSpec("t", "T", "P", rows=(row,)), seeds=1, settings=settings)
        return BaselineRuns(town_corpus, "test", RunStore(tmp_path)).finished(planned)

    return carried_out


def test_fields_are_added_with_their_weights_before_they_saturate(words):
    terms, articles = words.fields["path"].T.nonzero()
    term, article = terms[0], articles[0]
    frequency = words.fields["text"][article, term] + 3 * words.fields["path"][article, term]
    expected = (
        frequency
        / (2.0 + frequency)
        * np.log1p((len(words.fields["text"].toarray()) - words.holding[term] + 0.5) / (words.holding[term] + 0.5))
    )
    assert words.weights(k1=2.0, b=0.0, text=1.0, path=3.0)[term, article] == pytest.approx(expected, rel=1e-5)


def test_feedback_of_weight_0_asks_what_was_asked(words, questions):
    asked, weights = words.asked(questions), words.weights(k1=1.2, b=0.5)
    scores = (asked @ weights).toarray()
    same = expanded(words, asked, scores, articles=2, terms=5, weight=0.0)
    np.testing.assert_allclose(same.sum(axis=1), 1, rtol=1e-5)
    more = expanded(words, asked, scores, articles=2, terms=5, weight=0.5)
    assert (np.diff(more.tocsr().indptr) <= np.diff(asked.indptr) + 5).all()
    np.testing.assert_allclose(more.sum(axis=1), 1, rtol=1e-5)


def test_parameters_are_climbed_one_after_the_other(town_corpus, tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr(BaselineRuns, "quality", lambda self, ranker: tried.append(1) or ranker.score([]))
    grid = {"a": range(10), "b": range(10)}
    runs = BaselineRuns(town_corpus, "test", RunStore(tmp_path))
    best, chosen = runs.best(grid, lambda of: lambda questions: -((of["a"] - 7) ** 2) - (of["b"] - of["a"] + 3) ** 2)
    assert chosen == {"a": 7, "b": 4}
    assert best.score([]) == 0
    assert len(tried) < 50


@pytest.mark.parametrize("baseline", ["fields", "feedback"])
def test_a_lexical_baseline_is_chosen_on_dev_and_measured_apart_from_its_system(baseline, result, town_corpus):
    row = RowSpec("a", "bm25", ("device=cpu",), seeded=False, baseline=baseline)
    found, plain = result(row), result(replace(row, baseline=""))
    assert found.about["chosen"]
    assert "chosen" not in plain.about
    assert found.metrics.question_ids == plain.metrics.question_ids


@pytest.mark.parametrize("baseline", ["reciprocal", "summed"])
def test_a_fusion_names_what_dev_chose(baseline, result, quick_backbone):
    found = result(RowSpec("a", "zero-shot", (f"encoder.backbone={quick_backbone}", "device=cpu"), baseline=baseline))
    assert {"bm25.k1", "bm25.b"} < found.about["chosen"].keys()


@pytest.mark.parametrize(
    ("baseline", "chosen"),
    [("signal", {"signal"}), ("equal", {"signals"}), ("rival", {"k", "bm25", "votes"}), ("votes", set())],
)
def test_what_ranks_over_the_parts_of_an_ensemble(baseline, chosen, result, quick_settings, quick_backbone):
    own = [text for text in quick_settings if not text.startswith("encoder.backbone")]
    settings = (*own, f"ensemble.members=qabisar@{quick_backbone}", "ranker.learnt=false")
    found = result(RowSpec("a", "ensemble", settings, baseline=baseline))
    assert found.about["chosen"].keys() == chosen
    assert not found.signals


def test_every_baseline_has_a_row_in_a_table():
    assert {row.baseline for name in table_names() for row in read_table(name).rows} == {"", *BASELINES}
