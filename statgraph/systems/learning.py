"""What an ensemble learns from the questions of a corpus: its trees, and the signal that leads where the weighted sum
is worse than that signal alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from statgraph import artifacts
from statgraph.config import RankerConfig, RunConfig
from statgraph.evaluation.metrics import question_metrics, ranking_quality
from statgraph.law.records import MAIN_SET, Corpus, Question
from statgraph.law.splitting import near_duplicates, with_near_duplicates
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.features import Features
from statgraph.retrieval.ranking.learnt import FIRSTS, LambdaMartRanker, Learning, Measure, keeping_first, learn, ranked
from statgraph.retrieval.search.ensemble_run import ranker_entries
from statgraph.runs.run import RunFolder
from statgraph.systems.presets import ENOUGH_TO_FOLD

LEADS = "leads"  # in the ranker's file: by what the weights of signals that lead are multiplied
FACTORS = (2.0, 4.0, 8.0, 16.0)
ENOUGH_TO_LEAD = 30  # dev questions: of ten one signal or another is better by chance
_DEPTH = 500  # candidates of a question that a ranker learns from, at least
_LARGEST_GROUP = 0.2  # share of the questions that near-duplicates make one group of, at most


def learns_from(config: RankerConfig, corpus: Corpus) -> str:
    """Return what the trees of an ensemble learn from on a corpus: dev or cross-fit."""
    if config.learn_from != "auto":
        return config.learn_from
    return "cross-fit" if len(corpus.split("train")) >= ENOUGH_TO_FOLD else "dev"


def questions_to_learn_from(corpus: Corpus, split: str) -> tuple[list[Question], list[int]]:
    """Return the questions of a split with their groups: first those of the main set, then of each other set as many
    at most, so that what is learnt is not one way of asking and labelling.

    Near-duplicates are in one group, questions that share most of their labels, up to a fifth of the questions, unless
    dev questions have theirs among training questions too: what is held out is to be as new as what will be asked. A
    question of another set that is a citing text too (the same id) is in one group with that text's question.
    """
    main = corpus.split(split)
    questions = list(main)
    for name in corpus.question_sets:
        others = corpus.split(split, name) if name != MAIN_SET else ()
        questions += others[:: math.ceil(len(others) / max(1, len(main)))] if others else ()
    labels = {question.question_id: question.article_ids for question in questions}
    first: dict[str, str] = {}
    known = {name: first.setdefault(corpus.owners.get(name, name), name) for name in labels}
    largest = 0.0 if split == "train" and _dev_repeats_train(corpus) else len(questions) * _LARGEST_GROUP
    together = near_duplicates(labels, known, largest)
    group = {question_id: place for place, linked in enumerate(together) for question_id in linked}
    number: dict[int, int] = {}  # by first appearance, so that folds are as even as the groups
    return questions, [number.setdefault(group[question.question_id], len(number)) for question in questions]


def _dev_repeats_train(corpus: Corpus) -> bool:
    """Return whether dev questions have near-duplicates among training questions at least half as often as these do."""
    train, dev = ({each.question_id: each.article_ids for each in corpus.split(split)} for split in ("train", "dev"))
    repeated = with_near_duplicates(train | dev, train)
    of_train, of_dev = (len(repeated.intersection(each)) / max(1, len(each)) for each in (train, dev))
    return of_dev > 0 and of_dev >= of_train / 2


def candidates_of(ensemble: Ensemble, questions: Sequence[Question]) -> list[Features]:
    """Return the candidates of questions with their features."""
    return list(ensemble.features([question.text for question in questions], _DEPTH)) if questions else []


def measure_of(corpus: Corpus, questions: Sequence[Question]) -> Measure:
    """Return the function from the rankings of some questions to the ranking quality of each."""
    labels = corpus.label_rows(questions)
    return lambda rankings: ranking_quality(question_metrics(rankings, labels, len(corpus.articles)))


def learning_of(
    corpus: Corpus,
    config: RunConfig,
    ensemble: Ensemble,
    candidates: Sequence[Features],
    dev_candidates: list[Features],
) -> Learning:
    """Return what the trees of an ensemble come to; `candidates` are those of `questions_to_learn_from`, held out, and
    `dev_candidates` those of the dev questions, in the whole ensemble."""
    split = "dev" if learns_from(config.ranker, corpus) == "dev" else "train"
    questions, groups = questions_to_learn_from(corpus, split)
    labels, measure = corpus.label_rows(questions), measure_of(corpus, questions)
    learning = learn(candidates, labels, ensemble.fixed, config.ranker, measure, groups=groups, seed=config.seed)
    if config.ranker.kind == "auto" and learning.ranker is not None and not learning.ranker.keeps_first:
        if split == "dev":
            measured = questions, candidates, learning.held_out
        else:
            measured = _dev_questions(ensemble, corpus, dev_candidates, learning.ranker)
        if _loses_first_hits(corpus, ensemble, *measured):
            learning = keeping_first(learning, candidates, ensemble.fixed, measure)
    return learning


def _dev_questions(
    ensemble: Ensemble, corpus: Corpus, dev_candidates: list[Features], ranker: LambdaMartRanker
) -> tuple[list[Question], list[Features], list[np.ndarray]]:
    """Return the dev questions of all sets, their candidates, and the scores of these by trees that have not seen
    them."""
    questions = [question for name in corpus.question_sets for question in corpus.split("dev", name)]  # main set first
    candidates = dev_candidates + candidates_of(ensemble, questions[len(dev_candidates) :])
    return questions, candidates, [ranker.scores(features) for features in candidates]


def _loses_first_hits(
    corpus: Corpus,
    ensemble: Ensemble,
    questions: Sequence[Question],
    candidates: Sequence[Features],
    scores: Sequence[np.ndarray],
) -> bool:
    """Return whether, in some set of questions, fewer have an answer among the first three hits by these scores than by
    the fixed ranker's."""
    labels = corpus.label_rows(questions)

    def answered(scores: Sequence[np.ndarray]) -> np.ndarray:
        rankings = ranked(candidates, scores)
        return np.array([np.isin(rows[:FIRSTS], right).any() for rows, right in zip(rankings, labels, strict=True)])

    by_trees, by_weights = answered(scores), answered([ensemble.fixed.scores(features) for features in candidates])
    sets = np.array([question.question_set for question in questions])
    return any(by_trees[sets == name].sum() < by_weights[sets == name].sum() for name in set(sets.tolist()))


def read_leads(run: RunFolder) -> Mapping[str, float]:
    """Return by what the weights of a run's leading signals are multiplied; none lead in most runs.

    Raises:
        RunError: if the ranker's file is damaged.
    """
    if not run.ranker.is_file():
        return {}
    with artifacts.reading(run.ranker):
        return {str(name): float(factor) for name, factor in dict(ranker_entries(run.ranker).get(LEADS, {})).items()}


def leading_signal(
    ensemble: Ensemble, candidates: Sequence[Features], measure: Measure
) -> tuple[str, float, float] | None:
    """Return the signal that alone ranks questions better than the fixed ranker by more than the standard error of the
    difference, its measure and the ranker's; None where there is no such signal."""
    by_ranker = measure(ranked(candidates, [ensemble.fixed.scores(each) for each in candidates]))
    alone = {
        signal.name: measure(ranked(candidates, [each.column(signal.name, "score") for each in candidates]))
        for signal in ensemble.signals
    }
    best = max(alone, key=lambda name: alone[name].mean())
    difference = alone[best] - by_ranker
    if difference.mean() <= difference.std() / np.sqrt(len(difference)):
        return None
    return best, float(alone[best].mean()), float(by_ranker.mean())
