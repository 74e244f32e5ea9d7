"""Which articles citing texts name by number, where their source does not say which they cite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from statgraph.corpus.citations.references import ReferenceFinder
from statgraph.corpus.records import Article, CitingText


def cited_articles(texts: Iterable[CitingText], articles: Sequence[Article]) -> list[tuple[str, ...]]:
    """Return for each text the ids of the articles that its title and text name, each once, in that order.

    A number without a code is of the code that the title names, or of the only code of the articles.
    """
    texts = list(texts)
    if not texts:
        return []
    codes = [article.code for article in articles]
    finder = ReferenceFinder([article.title for article in articles], codes)
    named = sorted(dict.fromkeys(codes), key=len, reverse=True)
    found = (finder.find(f"{text.title}\n{text.text}", _code_of(text.title, named)) for text in texts)
    return [tuple(articles[row].article_id for row in rows) for rows in found]


def _code_of(title: str, codes: Sequence[str]) -> str:
    """Return the first of the codes that a title names; else the only one, or "" where there are several."""
    named = (code for code in codes if re.search(rf"\b{re.escape(code)}\b", title, re.IGNORECASE))
    return next(named, codes[0] if len(codes) == 1 else "")
