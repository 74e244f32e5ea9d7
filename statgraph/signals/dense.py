"""The vectors of a trained system, or of an untrained encoder, as a signal."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.query import Ranked
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.query_encoder import QueryEncoder
from statgraph.signals.signal import FROM_LAW, TRAINED, ZERO_SHOT, Answer, Asked, SignalInfo

_WORDS = {
    "de": "Seine Bedeutung, nach {name}",
    "en": "Its meaning, by {name}",
    "es": "Su significado, según {name}",
    "fr": "Son sens, selon {name}",
    "it": "Il suo significato, secondo {name}",
    "nl": "De betekenis, volgens {name}",
}
KINDS = {
    ZERO_SHOT: SignalInfo(weight=1.0, words=_WORDS),
    FROM_LAW: SignalInfo(weight=0.3, words=_WORDS),
    TRAINED: SignalInfo(weight=1.0, learns=True, words=_WORDS),
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
        """Return the inner products with each question's vector."""
        search = _Search(self._index, asked.vectors(self.encoder))
        return [_Products(search, place) for place in range(len(asked.texts))]


class _Search:
    """The vectors of some texts, for which the index is searched together: it reads the articles' vectors once."""

    def __init__(self, index: ArticleIndex, queries: np.ndarray):
        self.index = index
        self.queries = queries
        self._limits: tuple[int, AllowedRows | None] | None = None
        self._ranked: list[Ranked] = []

    def ranked(self, k: int, allowed: AllowedRows | None) -> list[Ranked]:
        """Return the best `k` for each text; those of the last limits are kept."""
        if self._limits is None or self._limits[0] != k or self._limits[1] is not allowed:
            self._ranked = self.index.search(self.queries, k, allowed)
            self._limits = k, allowed
        return self._ranked


class _Products:
    floor, confidence = None, 1.0

    def __init__(self, search: _Search, place: int):
        self._search = search
        self._place = place

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        return self._search.ranked(k, allowed)[self._place]

    def scores(self, rows: np.ndarray) -> np.ndarray:
        return self._search.index.scores(self._search.queries[self._place], rows)
