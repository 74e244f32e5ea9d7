"""Measuring a retriever on a split of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from statgraph.artifacts import reading
from statgraph.errors import UsageError, unknown_name
from statgraph.evaluation.metrics import DEPTH, QuestionMetrics, article_means, question_metrics
from statgraph.evaluation.report import Report, evaluation_report
from statgraph.evaluation.strata import strata_masks
from statgraph.law.query import Ranks
from statgraph.law.records import MAIN_SET, SPLITS, Corpus, Question
from statgraph.law.topics import nearness

SAVED_DECIMALS = 6


@dataclass(frozen=True)
class SplitMetrics:
    """Each metric of every question of a split, the strata (`masks[name]` is (questions,) bool), and `article_means`,
    which are not saved."""

    question_ids: tuple[str, ...]
    metrics: QuestionMetrics
    masks: Mapping[str, np.ndarray]
    by_article: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return JSON values: metrics rounded to `SAVED_DECIMALS`, strata as lists of question ids."""
        clusters = self.metrics.clusters
        return {
            "question_ids": list(self.question_ids),
            **({} if clusters is None else {"clusters": clusters.tolist()}),
            "metrics": {
                name: np.round(values, SAVED_DECIMALS).tolist() for name, values in self.metrics.values.items()
            },
            "strata": {
                name: [question_id for question_id, held in zip(self.question_ids, mask, strict=True) if held]
                for name, mask in self.masks.items()
            },
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> SplitMetrics:
        """Return what `to_dict` saved.

        Raises:
            RunError: if a part is missing, has another shape, or does not fit the others.
        """
        with reading("split metrics", "evaluate the run again"):
            question_ids = tuple(map(str, saved["question_ids"]))
            values = {name: np.array(column, dtype=np.float64) for name, column in saved["metrics"].items()}
            if any(column.shape != (len(question_ids),) for column in values.values()):
                raise ValueError(f"a metric does not have {len(question_ids)} values, one for each question")
            masks = {name: np.isin(question_ids, list(held)) for name, held in saved["strata"].items()}
            clusters = np.array(saved["clusters"], dtype=np.int64) if "clusters" in saved else None
            if clusters is not None and clusters.shape != (len(question_ids),):
                raise ValueError(f"'clusters' does not have {len(question_ids)} values, one for each question")
            strange = {held for ids in saved["strata"].values() for held in ids}.difference(question_ids)
            if strange:
                raise ValueError(f"a stratum holds question '{min(strange)}', which was not measured")
        return cls(question_ids, QuestionMetrics(values, clusters), masks)


def sets_of_split(corpus: Corpus, split: str) -> tuple[str, ...]:
    """Return the names of the question sets that have questions in a split, the main set first.

    Raises:
        UsageError: if the split is unknown or has no questions.
    """
    if split not in SPLITS:
        raise unknown_name("split", split, SPLITS)
    names = tuple(name for name in corpus.question_sets if corpus.split(split, name))
    if not names:
        raise UsageError(
            f"split '{split}' of corpus '{corpus.name}' has no questions; add some to qrels/{split}.tsv, or choose "
            "another split"
        )
    return names


def split_questions(corpus: Corpus, split: str, question_set: str = MAIN_SET) -> tuple[Question, ...]:
    """Return the questions of a split and a question set.

    Raises:
        UsageError: if the split is unknown, or has no questions of the set.
    """
    names = sets_of_split(corpus, split)
    if question_set not in names:
        raise UsageError(
            f"split '{split}' of corpus '{corpus.name}' has no questions of the set '{question_set}'; "
            f"choose another split, or one of {', '.join(names)}"
        )
    return corpus.split(split, question_set)


def split_metrics(retriever: Ranks, corpus: Corpus, split: str, question_set: str = MAIN_SET) -> SplitMetrics:
    """Return the metrics of a retriever for each of `split_questions`, in corpus order."""
    questions = split_questions(corpus, split, question_set)
    labels = corpus.label_rows(questions)
    rankings = [ranked.rows for ranked in retriever.rank([question.text for question in questions], DEPTH)]
    metrics = question_metrics(rankings, labels, len(corpus.articles))
    training_rows = corpus.label_rows(corpus.split("train"))
    masks = strata_masks(questions, labels, corpus.articles, training_rows, _like_training(corpus, questions))
    question_ids = tuple(question.question_id for question in questions)
    return SplitMetrics(question_ids, metrics, masks, article_means(rankings, labels))


def _like_training(corpus: Corpus, questions: Sequence[Question]) -> np.ndarray | None:
    """Return which questions have words as near to those of a training question as half of the dev questions have,
    (questions,) bool; None where there is no training or no dev question."""
    dev, train = ([question.text for question in corpus.split(split)] for split in ("dev", "train"))
    if not dev or not train:
        return None
    cosines = nearness([*dev, *(question.text for question in questions)], train)
    like: np.ndarray = cosines[len(dev) :] >= np.median(cosines[: len(dev)])
    return like


def evaluate_split(retriever: Ranks, corpus: Corpus, split: str, *, rng: np.random.Generator) -> Report:
    """Return the report of a retriever on a split of the main set: all metrics with intervals, in every stratum."""
    return report_of(split_metrics(retriever, corpus, split), corpus, split, rng=rng)


def report_of(measured: SplitMetrics, corpus: Corpus, split: str, *, rng: np.random.Generator) -> Report:
    """Return the report of what was measured on a split."""
    return evaluation_report(
        measured.metrics,
        measured.masks,
        split=split,
        n_articles=len(corpus.articles),
        by_article=measured.by_article,
        rng=rng,
    )
