"""The vectors of a trained system, or of an untrained encoder, as a signal."""

from __future__ import annotations

import numpy as np

from statgraph.encoders.inference.query_encoder import QueryEncoder
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.signals.centring import Centre
from statgraph.retrieval.signals.signal import FROM_LAW, TRAINED, WORDS, ZERO_SHOT, Answer, Asked, SignalInfo

KINDS = {
    ZERO_SHOT: SignalInfo(weight=1.0, named=True, words=WORDS["dense"]),
    FROM_LAW: SignalInfo(weight=0.3, named=True, words=WORDS["dense"]),
    TRAINED: SignalInfo(weight=1.0, learns=True, named=True, words=WORDS["dense"]),
}
_AT_ONCE = 16  # texts: a long question's nine and more, and few to search for in vain


class DenseSignal:
    """A member's query encoder over its index, of one of `KINDS`; `centre` is what is taken from questions."""

    def __init__(self, name: str, kind: str, index: ArticleIndex, encoder: QueryEncoder, centre: Centre | None = None):
        self.name = name
        self.kind = kind
        self.info = KINDS[kind]
        self.encoder = encoder
        self.centre = centre or Centre()
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
        batch = _Batch(self._index, asked.vectors(self.encoder) - self.centre.question)
        return [_Products(batch, place) for place in range(len(asked.texts))]


class _Batch:
    """The texts of one search; that which is looked at and those that follow it are searched for at once."""

    def __init__(self, index: ArticleIndex, queries: np.ndarray):
        self.index = index
        self.queries = queries
        self.limits: tuple[int, AllowedRows | None] = 0, None
        self.ranked: dict[int, Ranked] = {}  # by place, within these limits


class _Products:
    floor, confidence = None, 1.0

    def __init__(self, batch: _Batch, place: int):
        self._batch = batch
        self._place = place

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        batch, place = self._batch, self._place
        if batch.limits[0] != k or batch.limits[1] is not allowed:
            batch.limits, batch.ranked = (k, allowed), {}
        if place not in batch.ranked:
            found = batch.index.search(batch.queries[place : place + _AT_ONCE], k, allowed)
            batch.ranked |= dict(enumerate(found, start=place))
        return batch.ranked[place]

    def scores(self, rows: np.ndarray) -> np.ndarray:
        return self._batch.index.scores(self._batch.queries[self._place], rows)
