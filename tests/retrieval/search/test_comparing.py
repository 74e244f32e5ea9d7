"""Two runs compared, over two states of a law."""

from dataclasses import replace

import pytest

from statgraph import evaluate
from statgraph.errors import UsageError
from statgraph.law.records import Article, Question
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


@pytest.fixture(scope="module")
def states(town_corpus, tmp_path_factory):
    """Two states of a law, the later with another article in place of the last, and two more questions, as a folder of
    BM25 runs and two corpora."""
    folder = tmp_path_factory.mktemp("states")
    code = town_corpus.articles[0].path
    added = Article("new", "Art. 99", "A lighthouse keeper polishes the lens each week.", code, 99)
    questions = (
        Question("lens", "Who polishes the lens of the lighthouse?", "test", ("new",)),
        Question("both", "Who polishes the lens and who else?", "test", ("new", town_corpus.articles[0].article_id)),
    )
    gone = town_corpus.articles[-1].article_id
    kept = tuple(article for article in town_corpus.articles if article.article_id != gone)
    asked = tuple(question for question in town_corpus.questions if gone not in question.article_ids)
    later = replace(town_corpus, articles=(*kept, added), questions=(*asked, *questions), citing=())
    for name, corpus in (("earlier", town_corpus), ("later", later)):
        train_run(corpus, resolve_config("bm25", ["device=cpu"]), folder / name)
    return folder, town_corpus, later


def test_runs_of_two_states_are_compared_on_what_both_know(states):
    folder, _, later = states
    measured = evaluate(folder / "later", later, "test", against=folder / "earlier", device="cpu")

    n_known = len(later.split("test")) - 1  # the earlier run has no answer to "lens", and one of two to "both"
    assert measured.comparison.left_out == (
        f"1 of {n_known + 1} questions, whose answers the earlier run does not have",
        "1 article that only this run has",
        "1 article that only the earlier run has",
    )
    assert {of.comparison.n_questions for of in measured.comparisons.values()} == {n_known}
    # Both rank by the same words what both have.
    assert measured.comparisons["S@1"].baseline_mean == pytest.approx(measured.comparisons["S@1"].system_mean)
    assert measured.to_dict()["against"]["left_out"] == measured.comparison.left_out
    # The report itself is over all questions and all articles.
    assert measured.report.strata["all"].n_questions == n_known + 1


def test_runs_of_one_state_are_compared_on_all_questions(states):
    folder, before, _ = states
    measured = evaluate(folder / "earlier", before, "test", against=folder / "earlier", device="cpu")
    assert measured.comparison.left_out == ()
    assert measured.comparisons["mAP"].system_mean == pytest.approx(measured.metrics["mAP"])
    assert measured.comparisons["mAP"].comparison.difference == 0


def test_questions_that_the_earlier_run_was_trained_on_are_left_out(town_corpus, tmp_path):
    earlier = tmp_path / "earlier"
    train_run(town_corpus, resolve_config("ensemble", ["device=cpu", "ensemble.members=none"]), earlier)
    trained_on = town_corpus.split("train")[0]
    moved = replace(trained_on, question_id="moved", split="test", text=trained_on.text.upper())
    rest = tuple(question for question in town_corpus.questions if question is not trained_on)
    later = replace(town_corpus, questions=(*rest, moved))
    train_run(later, resolve_config("bm25", ["device=cpu"]), tmp_path / "later")

    measured = evaluate(tmp_path / "later", later, "test", against=earlier, device="cpu")

    n_questions = len(later.split("test"))
    assert measured.comparison.left_out == (f"1 of {n_questions} questions, which the earlier run was trained on",)


def test_strata_have_five_questions_at_least_and_not_all(town_corpus, tmp_path):
    long = " ".join(f"This is sentence number {place}, and it says nothing of the law at all." for place in range(6))
    made = tuple(
        Question(f"long-{place}", f"{long} {question.text}", "test", question.article_ids)
        for place, question in enumerate(town_corpus.questions[:5])
    )
    corpus = replace(town_corpus, questions=(*town_corpus.questions, *made))
    train_run(corpus, resolve_config("bm25", ["device=cpu"]), tmp_path / "run")

    strata = evaluate(tmp_path / "run", corpus, "test", against=tmp_path / "run", device="cpu").comparison.strata

    assert strata["long questions"]["mAP"].comparison.n_questions == 5
    assert "short questions" not in strata  # four
    assert "all" not in strata


def test_runs_of_different_laws_share_no_question(states, corpus, tmp_path):
    folder, _, _ = states
    train_run(corpus, resolve_config("bm25", ["device=cpu"]), tmp_path / "other")
    with pytest.raises(UsageError, match="knows the answer of no question in test"):
        evaluate(tmp_path / "other", corpus, "test", against=folder / "earlier", device="cpu")
