"""Questions about law that training has seen a question of, and questions about law that it has not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

STRATA = ("all", "seen", "unseen")


def strata_masks(
    relevant_rows: Sequence[Sequence[int]], training_rows: Iterable[Iterable[int]]
) -> dict[str, np.ndarray]:
    """Return for each of `STRATA` which questions it holds, (questions,) bool.

    A question is seen if a training question is labelled with any of its articles.

    Args:
        relevant_rows: the article rows of each question that is evaluated.
        training_rows: the article rows of each training question.
    """
    cited = {row for rows in training_rows for row in rows}
    seen = np.array([not cited.isdisjoint(rows) for rows in relevant_rows], dtype=bool)
    return {"all": np.ones(len(seen), dtype=bool), "seen": seen, "unseen": ~seen}
