"""The text that stands for an article, a heading or a citing text in every encoder and index, and hashes of texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from statgraph.law.records import Article, CitingText, Heading
from statgraph.runs.article_store import StoredArticle

PATH_SEPARATOR = " > "


def heading_texts(headings: Iterable[Heading], *, heading_path: bool = True) -> list[str]:
    """Return each heading's whole path as text, from the code down, or its own title alone."""
    return [PATH_SEPARATOR.join(heading.path) if heading_path else heading.path[-1] for heading in headings]


def article_text(article: Article | StoredArticle, *, heading_path: bool = True) -> str:
    """Return an article's heading path, unless that is not wanted, its rubric, if it has one, and its text, each on a
    line of its own."""
    path = PATH_SEPARATOR.join(article.path) if heading_path else ""
    return "\n".join([*filter(None, (path, article.rubric)), article.text])


def article_texts(articles: Iterable[Article | StoredArticle], *, heading_path: bool = True) -> list[str]:
    """Return `article_text` of each article."""
    return [article_text(article, heading_path=heading_path) for article in articles]


def citing_text(text: CitingText) -> str:
    """Return a citing text, the title of its document in front on a line of its own."""
    return f"{text.title}\n{text.text}"


HASH_BYTES = 16


def text_hashes(texts: Sequence[str]) -> np.ndarray:
    """Return the BLAKE2b hash of each text, (texts, 16) uint8."""
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES) for text in texts)
    flat = np.frombuffer(b"".join(digest.digest() for digest in digests), dtype=np.uint8)
    return flat.reshape(-1, HASH_BYTES)
