"""The vectors of a trained system, or of an untrained encoder, as a signal."""

from __future__ import annotations

from functools import partial

from statgraph.encoders.inference.query_encoder import QueryEncoder
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.signals.centring import Centre
from statgraph.retrieval.signals.signal import (
    FROM_LAW,
    TRAINED,
    WORDS,
    ZERO_SHOT,
    Proposal,
    QuestionBatch,
    Signal,
    SignalInfo,
)

KINDS = {
    ZERO_SHOT: SignalInfo(weight=1.0, named=True, words=WORDS["dense"]),
    FROM_LAW: SignalInfo(weight=0.3, named=True, words=WORDS["dense"]),
    TRAINED: SignalInfo(weight=1.0, learns=True, named=True, words=WORDS["dense"]),
}


class DenseSignal(Signal):
    """A member's query encoder over its index, of one of `KINDS`; `centre` is what is subtracted from questions."""

    encoder: QueryEncoder

    def __init__(self, name: str, kind: str, index: ArticleIndex, encoder: QueryEncoder, centre: Centre | None = None):
        self.name = name
        self.kind = kind
        self.info = KINDS[kind]
        self.encoder = encoder
        self.centre = centre or Centre()
        self.n_articles = len(index)
        self.width = index.width  # components of a vector
        self._index = index

    def propose(self, questions: QuestionBatch, k: int, allowed: AllowedRows | None) -> list[Proposal]:
        """Return the articles whose vectors have the largest inner products with each question's."""
        queries = questions.vectors(self.encoder) - self.centre.question
        ranked = self._index.search(queries, k, allowed)
        return [
            Proposal(candidates, partial(self._index.scores, query))
            for query, candidates in zip(queries, ranked, strict=True)
        ]
