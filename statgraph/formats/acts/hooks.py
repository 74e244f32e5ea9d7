"""What a profile's YAML cannot say: functions that change an article after it is read, named by `hook`.

Each takes the article and its element, and returns the article, changed or not, or None to leave it out.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statgraph.formats.acts.reader import ActArticle
    from statgraph.formats.acts.selectors import Element


def last_day(article: ActArticle, element: Element) -> ActArticle:
    """Return an article whose file gives the last day in force, with the day after it."""
    if not article.valid_to:
        return article
    return replace(article, valid_to=(date.fromisoformat(article.valid_to) + timedelta(days=1)).isoformat())
