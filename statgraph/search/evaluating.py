"""Measuring a retriever on a split of a corpus."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.records import SPLITS, Corpus
from statgraph.errors import UsageError
from statgraph.evaluation.question_metrics import question_metrics
from statgraph.evaluation.report import Report, evaluation_report
from statgraph.evaluation.strata import strata_masks
from statgraph.search.retriever import Retriever

DEPTH = 500


def evaluate_split(retriever: Retriever, corpus: Corpus, split: str, *, rng: np.random.Generator) -> Report:
    """Return the report of a retriever on a split: all metrics with intervals, over all, seen and unseen questions.

    Raises:
        UsageError: if the split is not known or has no questions.
    """
    if split not in SPLITS:
        raise UsageError(f"split '{split}' is not known; use one of {', '.join(SPLITS)}")
    questions = corpus.split(split)
    if not questions:
        raise UsageError(f"split '{split}' of corpus '{corpus.name}' has no questions; choose another split")
    labels = corpus.label_rows(questions)
    rankings, _ = retriever.rank([question.text for question in questions], DEPTH)
    masks = strata_masks(labels, corpus.label_rows(corpus.split("train")))
    return evaluation_report(question_metrics(rankings, labels), masks, split=split, rng=rng)
