"""What the service answers from: a run's retriever, its articles, and their table of contents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from statgraph.errors import UsageError
from statgraph.search.article_store import ArticleStore, StoredArticle
from statgraph.search.filters import ArticleFilter
from statgraph.search.retriever import Hit, Retriever, read_run_manifest
from statgraph.service.contents import ArticleOutline, Contents
from statgraph.service.passages import PassageFinder
from statgraph.service.schemas import MAX_SHOWN

_READ_AT_ONCE = 1024


class Library:
    """A run, loaded.

    Attributes:
        name: of the run folder.
        corpus: the name of the corpus that it was trained on.
        language: the ISO 639 code of that corpus.
        contents: the table of contents of its articles.
        filter: which articles stand under which headings.
        passages: finds the passage of an article that fits a question.
        examples: a few of its questions, where it keeps them.
    """

    def __init__(self, name: str, corpus: dict[str, str], retriever: Retriever, store: ArticleStore):
        self.name = name
        self.corpus = corpus["name"]
        self.language = corpus["language"]
        self.contents = Contents(_outlines(store))
        self.filter = ArticleFilter(self.contents.hierarchy)
        self.passages = PassageFinder(self.language, most=MAX_SHOWN)
        self.examples: tuple[str, ...] = ()
        self._retriever = retriever
        self._store = store

    @classmethod
    def load(cls, run: Path, *, device: str = "auto") -> Library:
        """Return the library of a run folder.

        Raises:
            RunError: if the folder is no finished run, or damaged.
        """
        manifest = read_run_manifest(run)
        retriever = Retriever.load(run, device=device)
        return cls(run.resolve().name, manifest["corpus"], retriever, ArticleStore(run))

    def search(self, question: str, k: int, among: np.ndarray | None) -> list[Hit]:
        """Return the best `k` articles for a question, those of the rows `among` only.

        Raises:
            UsageError: if the question is blank.
        """
        if among is None:
            return self._retriever.search(question, k)
        (rows,), (scores,) = self._retriever.rank([question], len(self.contents))
        chosen = np.flatnonzero(np.isin(rows, among))[:k]
        return [
            Hit(rank, float(score), article.article_id, article.title, article.path, article.text)
            for rank, (score, article) in enumerate(
                zip(scores[chosen], self._store.read(rows[chosen]), strict=True), start=1
            )
        ]

    def among(self, *, codes: Sequence[str] = (), heading_id: str | None = None) -> np.ndarray | None:
        """Return the article rows that stand in one of the codes and under the heading; None for all.

        Raises:
            UsageError: if a code or the heading is not known.
        """
        heading: Sequence[str] = ()
        if heading_id is not None:
            row = self.contents.heading_row(heading_id)
            if row is None:
                raise UsageError(f"heading '{heading_id}': there is none with this id; take one from /api/headings")
            heading = self.contents.headings[row]
        return self.filter.rows(codes=codes, heading=heading)

    def article(self, row: int) -> StoredArticle:
        """Return an article with its text."""
        return self._store.read([row])[0]


def _outlines(store: ArticleStore) -> Iterator[ArticleOutline]:
    """Yield every article without its text, a few texts in memory at a time."""
    for start in range(0, len(store), _READ_AT_ONCE):
        yield from _without_text(store.read(range(start, min(start + _READ_AT_ONCE, len(store)))))


def _without_text(articles: Iterable[StoredArticle]) -> Iterator[ArticleOutline]:
    return (ArticleOutline(article.article_id, article.title, article.path) for article in articles)
