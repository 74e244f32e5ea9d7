"""What an ensemble learns from the dev questions of a corpus: the weights of its sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.evaluation.metrics import question_metrics, ranking_quality
from statgraph.law.records import MAIN_SET, Corpus, Question
from statgraph.law.topics import topics
from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.ranking.weighted_sum import WeightedSum, learnt

_FOLDS = 5  # of topics


def questions_of_all_sets(corpus: Corpus, split: str) -> list[Question]:
    """Return the questions of a split: those of the main set, then of each other set as many at most, so that what is
    learnt is not one way of asking and labelling."""
    main = corpus.split(split)
    questions = list(main)
    for name in corpus.question_sets:
        others = corpus.split(split, name) if name != MAIN_SET else ()
        questions += others[:: math.ceil(len(others) / max(1, len(main)))] if others else ()
    return questions


def quality_of(corpus: Corpus, questions: Sequence[Question], rankings: Sequence[np.ndarray]) -> np.ndarray:
    """Return the ranking quality of the ranked rows of each question, (questions,) float64."""
    return ranking_quality(question_metrics(rankings, corpus.label_rows(questions), len(corpus.articles)))


@dataclass(frozen=True, eq=False)
class Learning:
    """What learning weights came to.

    Attributes:
        ranker: with the weights from all questions.
        held_out: for each question the sum with weights from questions on other topics.
    """

    ranker: WeightedSum
    held_out: list[WeightedSum]


def learn_weights(
    prior: WeightedSum, corpus: Corpus, questions: Sequence[Question], candidates: Sequence[Candidates]
) -> Learning:
    """Return the weights that questions give a sum, from all of them and, for each, from those on other topics."""
    labels = corpus.label_rows(questions)
    fold = _topic_folds([question.text for question in questions])
    held_out = [prior] * len(questions)
    for unseen in range(fold.max(initial=-1) + 1):
        seen = np.flatnonzero(fold != unseen).tolist()
        ranker = learnt(prior, [candidates[place] for place in seen], [labels[place] for place in seen])
        for place in np.flatnonzero(fold == unseen).tolist():
            held_out[place] = ranker
    return Learning(learnt(prior, candidates, labels), held_out)


def _topic_folds(texts: Sequence[str]) -> np.ndarray:
    """Return the fold of each text, (texts,) int64: five of whole topics, as even as these are, largest first."""
    of_text = topics(texts)
    folds, sizes = np.zeros(of_text.max(initial=-1) + 1, dtype=np.int64), np.zeros(_FOLDS, dtype=np.int64)
    counts = np.bincount(of_text)
    for topic in np.argsort(-counts, kind="stable"):
        folds[topic] = np.argmin(sizes)
        sizes[folds[topic]] += counts[topic]
    fold_of_text: np.ndarray = folds[of_text]
    return fold_of_text
