"""The round-trip filter: a question is worth keeping if a retriever finds its way back to the article."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from statgraph.augmentation.records import SyntheticQuestion

STEP = "round trip"
QUESTIONS_PER_BATCH = 256

# (questions, k) -> for each question the rows of its best k articles
Rank = Callable[[Sequence[str], int], Sequence[np.ndarray]]


def kept_by_round_trip(
    questions: Sequence[SyntheticQuestion],
    rank: Rank,
    *,
    k: int,
    article_rows: Mapping[str, int],
    progress: Callable[[str, int, int], None],
) -> list[SyntheticQuestion]:
    """Return the questions of which at least one article is among the retriever's best `k`, in their order."""
    kept = []
    for start in range(0, len(questions), QUESTIONS_PER_BATCH):
        progress(STEP, start, len(questions))
        batch = questions[start : start + QUESTIONS_PER_BATCH]
        ranked = rank([question.text for question in batch], k)
        for question, rows in zip(batch, ranked, strict=True):
            if np.isin([article_rows[article_id] for article_id in question.article_ids], rows).any():
                kept.append(question)
    progress(STEP, len(questions), len(questions))
    return kept
