"""The vectors of a trained system, or of an untrained encoder, as a signal."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.query import Ranked
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.query_encoder import QueryEncoder
from statgraph.signals.signal import FROM_LAW, TRAINED, ZERO_SHOT, Answer, Asked, SignalInfo

_WORDS = {
    "de": "Seine Bedeutung",
    "en": "Its meaning",
    "es": "Su significado",
    "fr": "Son sens",
    "it": "Il suo significato",
    "nl": "De betekenis",
}
KINDS = {
    ZERO_SHOT: SignalInfo(weight=1.0, named=True, words=_WORDS),
    FROM_LAW: SignalInfo(weight=0.3, named=True, words=_WORDS),
    TRAINED: SignalInfo(weight=1.0, learns=True, named=True, words=_WORDS),
}


class DenseSignal:
    """A member's query encoder over its index, of one of `KINDS`."""

    def __init__(self, name: str, kind: str, index: ArticleIndex, encoder: QueryEncoder):
        self.name = name
        self.kind = kind
        self.info = KINDS[kind]
        self.encoder = encoder
        self._index = index

    @property
    def n_articles(self) -> int:
        """Return how many articles the index holds."""
        return len(self._index)

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self._index.width

    def ask(self, asked: Asked) -> list[Answer]:
        """Return the inner products with each question's vector; the index is searched for those that are looked at."""
        return [_Products(self._index, query) for query in asked.vectors(self.encoder)]


class _Products:
    floor, confidence = None, 1.0

    def __init__(self, index: ArticleIndex, query: np.ndarray):
        self._index = index
        self._query = query
        self._ranked: tuple[int, AllowedRows | None, Ranked] | None = None  # by what limits, the last ranking

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        if self._ranked is None or self._ranked[0] != k or self._ranked[1] is not allowed:
            self._ranked = k, allowed, self._index.search(self._query[None], k, allowed)[0]
        return self._ranked[2]

    def scores(self, rows: np.ndarray) -> np.ndarray:
        return self._index.scores(self._query, rows)
