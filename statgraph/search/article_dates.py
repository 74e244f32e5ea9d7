"""When the articles of a run are in force, by row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.records import Article
from statgraph.corpus.validity import FOR_EVER, SINCE_EVER, days_in_force
from statgraph.errors import RunError

DATES = "articles.dates.npy"


def write_article_dates(articles: Sequence[Article], folder: Path) -> None:
    """Write the first day in force of each article and the first after, (articles, 2) int32 ordinals; no file where no
    article has a date."""
    days = np.array([days_in_force(article.metadata) for article in articles], dtype=np.int32).reshape(-1, 2)
    (folder / DATES).unlink(missing_ok=True)
    if (days != (SINCE_EVER, FOR_EVER)).any():
        np.save(folder / DATES, days, allow_pickle=False)


def read_article_dates(folder: Path, n_articles: int) -> np.ndarray | None:
    """Return (articles, 2) int32 as they were written, or None where no article has a date.

    Raises:
        RunError: if the file is damaged, or of other articles.
    """
    path = folder / DATES
    if not path.is_file():
        return None
    try:
        days = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = str(error).partition("\n")[0]
        raise RunError(f"{path}: not readable ({reason}); train the run again") from None
    if (days.shape, days.dtype) != ((n_articles, 2), np.int32):
        raise RunError(f"{path}: {days.dtype} of shape {days.shape} for {n_articles} articles; train the run again")
    return days


def rows_in_force(days: np.ndarray, day: int) -> AllowedRows:
    """Return the article rows that are in force on a day (an ordinal), of `days` as `read_article_dates` returns."""
    return AllowedRows.of_mask((days[:, 0] <= day) & (day < days[:, 1]))
