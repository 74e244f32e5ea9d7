"""The text that stands for an article or a heading in every encoder and index."""

from __future__ import annotations

from statgraph.corpus.records import Article, Heading

PATH_SEPARATOR = " > "


def heading_text(heading: Heading) -> str:
    """Return a heading's whole path as text, from the code down."""
    return PATH_SEPARATOR.join(heading.path)


def article_text(article: Article, *, heading_path: bool = True) -> str:
    """Return an article's text, its heading path in front on a line of its own unless told not to."""
    return f"{PATH_SEPARATOR.join(article.path)}\n{article.text}" if heading_path else article.text
