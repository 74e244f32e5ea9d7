"""The vectors of a trained system, or of an untrained encoder, as a signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        """Return the inner products with each question's vector; for all texts the index is searched together, which
        reads the articles' vectors once."""
        queries, ranked = asked.vectors(self.encoder), _Ranked()
        return [_Products(self._index, queries, place, ranked) for place in range(len(queries))]


@dataclass
class _Ranked:
    """The rankings of all texts within the limits that were last asked for."""

    k: int = 0
    allowed: AllowedRows | None = None
    of_texts: Sequence[Ranked] = ()


class _Products:
    floor, confidence = None, 1.0

    def __init__(self, index: ArticleIndex, queries: np.ndarray, place: int, ranked: _Ranked):
        self._index = index
        self._queries = queries
        self._place = place
        self._ranked = ranked

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        ranked = self._ranked
        if ranked.k != k or ranked.allowed is not allowed:
            ranked.of_texts = self._index.search(self._queries, k, allowed)
            ranked.k, ranked.allowed = k, allowed
        return ranked.of_texts[self._place]

    def scores(self, rows: np.ndarray) -> np.ndarray:
        return self._index.scores(self._queries[self._place], rows)
