"""Whether a run got better: two runs, question by question, over two states of a law too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.errors import UsageError
from statgraph.evaluation.metrics import DEPTH, QuestionMetrics, question_metrics
from statgraph.evaluation.significance import MetricComparison, compare_metrics
from statgraph.evaluation.strata import ALL, LIKE, LONG, SHORT, STRATA, UNLIKE
from statgraph.law.normal_text import comparable_question
from statgraph.law.records import Corpus
from statgraph.retrieval.ranking.long_questions import is_long
from statgraph.retrieval.search.evaluating import SplitMetrics, split_questions
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.own_corpus import own_corpus
from statgraph.runs.run import RunFolder

_SHOWN = ("S@3", "R@10", "R@100", "mAP")  # in each stratum
_MIN_QUESTIONS = 5  # of a stratum; below, an interval says nothing


@dataclass(frozen=True)
class RunComparison:
    """How far a run is from an earlier one.

    Attributes:
        metrics: the difference in each metric, over all questions that are compared.
        strata: the same of S@3, R@10, R@100 and mAP among the questions that are seen or unseen, like training or
            unlike it, short or long; strata of fewer than five questions are left out.
        left_out: what is not compared, a line for each reason.
    """

    metrics: Mapping[str, MetricComparison]
    strata: Mapping[str, Mapping[str, MetricComparison]]
    left_out: tuple[str, ...]


def compare_runs(
    run: tuple[RunFolder, Retriever],
    earlier: tuple[RunFolder, Retriever],
    corpus: Corpus,
    split: str,
    question_set: str,
    measured: SplitMetrics,
) -> RunComparison:
    """Return how a run differs from an earlier one, which may be of another state of the corpus.

    Both rank the articles that both have, for the questions whose answers are among these. A question that the earlier
    run was trained on is left out, as far as it says which these were: an ensemble does.

    Args:
        run: the run, of `corpus`.
        earlier: what it is compared with.
        measured: what `split_metrics` says of the run.

    Raises:
        UsageError: if there is no question to compare them on.
    """
    questions = split_questions(corpus, split, question_set)
    ids = [retriever.article_ids() for _, retriever in (run, earlier)]
    shared = set(ids[0]).intersection(ids[1])
    same_law = earlier[0].corpus.content_hash == run[0].corpus.content_hash
    learnt_from = set() if same_law else _training_questions(earlier[0])
    answered = np.array([not shared.isdisjoint(question.article_ids) for question in questions])
    is_new = np.array([comparable_question(question.text) not in learnt_from for question in questions])
    compared = answered & is_new
    if not compared.any():
        raise UsageError(
            f"{earlier[0].folder}: knows the answer of no question in {split} that it was not trained on; "
            "compare runs of the same law"
        )
    kept = [question for question, is_compared in zip(questions, compared, strict=True) if is_compared]
    places = {article_id: place for place, article_id in enumerate(sorted(shared))}
    labels = [[places[each] for each in question.article_ids if each in places] for question in kept]
    texts = [question.text for question in kept]
    theirs = _metrics(earlier[1], ids[1], places, texts, labels)
    has_all = len(shared) == len(ids[0])
    ours = measured.metrics.where(compared) if has_all else _metrics(run[1], ids[0], places, texts, labels)
    rng = np.random.default_rng(0)
    long = np.array(list(map(is_long, texts)))
    masks = {name: measured.masks[name][compared] for name in (*STRATA, LIKE, UNLIKE) if name in measured.masks}
    masks |= {SHORT: ~long, LONG: long}
    strata = {
        name: compare_metrics([theirs.only(_SHOWN).where(mask)], [ours.only(_SHOWN).where(mask)], rng)
        for name, mask in masks.items()
        if name != ALL and _MIN_QUESTIONS <= mask.sum() < len(mask)
    }
    only = [len(of_run) - len(shared) for of_run in ids]
    left_out = _left_out(len(questions), int((~answered).sum()), int((answered & ~is_new).sum()), only)
    return RunComparison(compare_metrics([theirs], [ours], np.random.default_rng(0)), strata, tuple(left_out))


def _metrics(
    retriever: Retriever,
    article_ids: Sequence[str],
    places: Mapping[str, int],
    texts: Sequence[str],
    labels: Sequence[Sequence[int]],
) -> QuestionMetrics:
    """Return the metrics of a run among the articles that have a place."""
    place_of_row = np.array([places.get(article_id, -1) for article_id in article_ids])
    rows = np.flatnonzero(place_of_row >= 0)
    among = None if len(rows) == len(article_ids) else rows
    ranked = retriever.rank(texts, DEPTH, among=among)
    return question_metrics([place_of_row[ranking.rows] for ranking in ranked], labels, len(places))


def _training_questions(run: RunFolder) -> set[str]:
    """Return the questions that an ensemble was trained on, in comparable form; other runs do not say."""
    return {comparable_question(question.text) for question in own_corpus(run).questions}


def _left_out(n_questions: int, n_unanswered: int, n_learnt: int, only: Sequence[int]) -> Iterator[str]:
    if n_unanswered:
        yield f"{n_unanswered:,} of {n_questions:,} questions, whose answers the earlier run does not have"
    if n_learnt:
        yield f"{n_learnt:,} of {n_questions:,} questions, which the earlier run was trained on"
    for count, which in zip(only, ("this run", "the earlier run"), strict=True):
        if count:
            yield f"{count:,} article{'s' * (count > 1)} that only {which} has"
