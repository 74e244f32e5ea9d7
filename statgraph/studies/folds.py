"""Cross-validation by groups of questions: each question is tested once, by a run that has learnt from none like it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import DisjointSet

from statgraph.evaluation.metrics import QuestionMetrics
from statgraph.law.records import MAIN_SET, SPLITS, Corpus, Question
from statgraph.law.splitting import near_duplicates
from statgraph.retrieval.search.evaluating import SplitMetrics
from statgraph.studies.store import RunResult


def question_groups(corpus: Corpus) -> dict[str, int]:
    """Return the group of each question, by its id.

    All questions of a fact sheet are in one group, with those of the sheets whose questions share most of their labels
    (`near_duplicates`).
    """
    sheets = {question.question_id: _sheets(question) for question in corpus.questions}
    joined = DisjointSet(sorted({sheet for named in sheets.values() for sheet in named}))
    labels = {
        sheets[question.question_id][0]: question.article_ids
        for question in corpus.questions
        if question.question_set == MAIN_SET
    }
    for first, *others in (*sheets.values(), *map(sorted, near_duplicates(labels))):
        for other in others:
            joined.merge(first, other)
    group_of = {sheet: number for number, group in enumerate(joined.subsets()) for sheet in group}
    return {question_id: group_of[named[0]] for question_id, named in sheets.items()}


def folded(corpus: Corpus, groups: Mapping[str, int], n_folds: int) -> Iterator[Corpus]:
    """Yield the corpus once a fold: test are the questions of that fold, dev those of the next, training all others.

    Each group is dealt to the fold that has the least questions of the main set, the largest group first.
    """
    train, dev, test = SPLITS
    sizes = Counter(groups[question.question_id] for question in corpus.questions if question.question_set == MAIN_SET)
    totals, fold_of = [0] * n_folds, {}
    for group in sorted(set(groups.values()), key=lambda group: (-sizes[group], group)):
        fold_of[group] = totals.index(min(totals))
        totals[fold_of[group]] += sizes[group]
    for fold in range(n_folds):
        splits = {fold: test, (fold + 1) % n_folds: dev}
        yield replace(
            corpus,
            questions=tuple(
                replace(question, split=splits.get(fold_of[groups[question.question_id]], train))
                for question in corpus.questions
            ),
        )


def pooled(results: Sequence[RunResult], groups: Mapping[str, int]) -> RunResult:
    """Return the results of all folds as one, over the questions of all, its clusters the groups.

    `about` is that of the first fold, with the time and the members of all, and `folds`, the facts of each.
    """
    first = results[0].about
    about: dict[str, Any] = {
        **first,
        "seconds": round(sum(result.about["seconds"] for result in results), 1),
        **{key: [part for result in results for part in result.about[key]] for key in ("steps", "taken")},
        "folds": [result.about for result in results],
    }
    names = [name for name in results[0].signals if all(name in result.signals for result in results)]
    signals = {name: _joined([result.signals[name] for result in results], groups) for name in names}
    return RunResult(_joined([result.metrics for result in results], groups), about, signals)


def _sheets(question: Question) -> list[str]:
    """Return the sheets that a question is of, at least one: its id where it names none."""
    named = question.metadata.get("sheets")
    return [str(sheet) for sheet in named] if isinstance(named, list) and named else [question.question_id]


def _joined(parts: Sequence[SplitMetrics], groups: Mapping[str, int]) -> SplitMetrics:
    ids = tuple(question_id for part in parts for question_id in part.question_ids)
    measured = [name for name in parts[0].metrics.values if all(name in part.metrics.values for part in parts)]
    values = {name: np.concatenate([part.metrics[name] for part in parts]) for name in measured}
    none = [np.zeros(len(part.question_ids), dtype=bool) for part in parts]
    masks = {
        stratum: np.concatenate([part.masks.get(stratum, empty) for part, empty in zip(parts, none, strict=True)])
        for stratum in dict.fromkeys(name for part in parts for name in part.masks)
    }
    clusters = np.array([groups[question_id] for question_id in ids], dtype=np.int64)
    return SplitMetrics(ids, QuestionMetrics(values, clusters), masks)
