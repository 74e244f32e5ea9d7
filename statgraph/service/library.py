"""What the service answers from: a run's retriever, its articles, and their table of contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from statgraph.errors import UsageError
from statgraph.search.article_store import ArticleStore, StoredArticle
from statgraph.search.explanation import Explanation
from statgraph.search.filters import ArticleFilter
from statgraph.search.retriever import Hit, Retriever, read_run_manifest
from statgraph.service.contents import ArticleOutline, Contents
from statgraph.service.neighbourhood import Surroundings
from statgraph.service.reference_index import ReferenceIndex
from statgraph.service.training_questions import TrainingQuestions

MAX_EXAMPLES = 6
LONGEST_EXAMPLE = 120
_READ_AT_ONCE = 1024
_KEPT_LIMITS = 32  # readers browse: one limit is asked for many times


class Library:
    """A run, loaded; make it with `load`.

    Attributes:
        name: of the run folder.
        corpus: the name of the corpus that it was trained on.
        language: the ISO 639 code of that corpus.
        contents: the table of contents of its articles.
        surroundings: what each article is tied to.
    """

    def __init__(
        self,
        name: str,
        corpus: Mapping[str, str],
        retriever: Retriever,
        store: ArticleStore,
        surroundings: Surroundings,
    ):
        self.name = name
        self.corpus = corpus["name"]
        self.language = corpus["language"]
        self.contents = surroundings.contents
        self.surroundings = surroundings
        rows = ArticleFilter(self.contents.hierarchy).rows
        self._rows = lru_cache(_KEPT_LIMITS)(lambda codes, heading: rows(codes=codes, heading=heading))
        self._retriever = retriever
        self._store = store

    @classmethod
    def load(cls, run: Path, *, device: str = "auto") -> Library:
        """Return the library of a run folder.

        Raises:
            RunError: if the folder is no finished run, or damaged.
            UsageError: if the device is not there.
        """
        corpus = read_run_manifest(run)["corpus"]
        retriever, store = Retriever.load(run, device=device), ArticleStore(run)
        contents = Contents(_outlines(store))
        surroundings = Surroundings(contents, ReferenceIndex(contents, store), TrainingQuestions.load(run, contents))
        return cls(run.resolve().name, corpus, retriever, store, surroundings)

    @property
    def examples(self) -> list[str]:
        """Return a few short questions of the run, from all over its list."""
        short = [
            question.text for question in self.surroundings.questions.questions if len(question.text) <= LONGEST_EXAMPLE
        ]
        return short[:: max(1, len(short) // MAX_EXAMPLES)][:MAX_EXAMPLES]

    def among(self, *, codes: Sequence[str] = (), heading_id: str | None = None) -> np.ndarray | None:
        """Return the article rows that stand in one of the codes and under the heading; None for all.

        Raises:
            UsageError: if a code or the heading is not known.
        """
        heading: tuple[str, ...] = ()
        if heading_id is not None:
            row = self.contents.heading_row(heading_id)
            if row is None:
                raise UsageError(f"heading '{heading_id}': there is none with this id; take one from /api/headings")
            heading = self.contents.headings[row]
        return self._rows(tuple(codes), heading)

    def search(self, question: str, k: int, among: np.ndarray | None) -> list[Hit]:
        """Return the best `k` articles for a question, those of the rows `among` only.

        Raises:
            UsageError: if the question is blank.
        """
        return self._retriever.search(question, k, among=among)

    def with_passages(self, question: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return the same hits, each with the passage that fits the question best."""
        return self._retriever.with_passages(question, hits)

    def explain(self, question: str, hits: Sequence[Hit]) -> list[Explanation]:
        """Return why each hit was found; the first call takes seconds."""
        return self._retriever.explain(question, hits)

    def article(self, row: int) -> StoredArticle:
        """Return an article with its text."""
        return self._store.read([row])[0]


def _outlines(store: ArticleStore) -> Iterator[ArticleOutline]:
    """Yield every article without its text, with a few texts in memory at a time."""
    for start in range(0, len(store), _READ_AT_ONCE):
        for article in store.read(range(start, min(start + _READ_AT_ONCE, len(store)))):
            yield ArticleOutline(article.article_id, article.title, article.path)
