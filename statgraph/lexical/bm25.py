"""BM25 over articles (Robertson and Zaragoza 2009), on bm25s."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import UsageError
from statgraph.lexical.analysis import analyser


@dataclass(frozen=True)
class TermWeight:
    """A term as BM25 counts it, stemmed, and its part of a text's score."""

    term: str
    weight: float


class BM25:
    """A BM25 index of texts.

    A text's score is the sum over the question's terms of

        ln(1 + (n - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length))

    with n texts, df of them holding the term, tf times in this one, whose length is given in mean lengths. This is
    Lucene's form, which leaves out the constant factor k1 + 1.

    Args:
        texts: the articles' texts, headings in front where they count.
        language: ISO 639-1 code that picks the stemmer.
        k1: term-frequency saturation (G-DSR, appendix C: 2.5).
        b: length normalisation (G-DSR, appendix C: 0.2).
    """

    def __init__(self, texts: Sequence[str], *, language: str, k1: float = 2.5, b: float = 0.2):
        import bm25s

        self._terms = analyser(language)
        documents = [self._terms(text) for text in texts]
        vocabulary = {term: row for row, term in enumerate(sorted({term for terms in documents for term in terms}))}
        self._vocabulary = vocabulary
        self._n_texts = len(documents)
        self._index = bm25s.BM25(k1=k1, b=b, method="lucene")
        if vocabulary:  # bm25s cannot index texts without a single term; nothing will be looked up in them either
            ids = [[vocabulary[term] for term in terms] for terms in documents]
            self._index.index(bm25s.tokenization.Tokenized(ids=ids, vocab=vocabulary), show_progress=False)

    def scores(self, question: str) -> np.ndarray:
        """Return the score of every text for a question, (texts,) float32; 0 where no term is shared."""
        rows = [self._vocabulary[term] for term in self._terms(question) if term in self._vocabulary]
        if not rows:
            return np.zeros(self._n_texts, dtype=np.float32)
        return self._index.get_scores_from_ids(rows).astype(np.float32)

    def term_weights(self, question: str, rows: Sequence[int]) -> list[list[TermWeight]]:
        """Return for each text the question's terms that it holds, heaviest first; the weights add up to its score."""
        asked = Counter(term for term in self._terms(question) if term in self._vocabulary)
        held: list[list[TermWeight]] = [[] for _ in rows]
        for term, times in asked.items():
            weights = times * self._index.get_scores_from_ids([self._vocabulary[term]])[list(rows)]
            for of_text, weight in zip(held, weights, strict=True):
                if weight > 0:
                    of_text.append(TermWeight(term, float(weight)))
        return [sorted(of_text, key=lambda part: (-part.weight, part.term)) for of_text in held]

    def ranking(self, question: str, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (rows int64, scores float32) of the best `k` texts, or of all if fewer; best first, ties by row.

        Texts that share no term with the question come last, with score 0. `allowed` is the rows to rank;
        None is all.

        Raises:
            UsageError: if `k` is below 1.
        """
        if k < 1:
            raise UsageError(f"k = {k}: nothing to search for; ask for at least 1 article")
        scores = self.scores(question)
        best = best_rows(scores, k) if allowed is None else allowed.rows[best_rows(scores[allowed.rows], k)]
        return best, scores[best]


def best_rows(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the rows (int64) of the best `k` of one or more scores, or of all if fewer; best first, ties by row."""
    if not len(scores):
        return np.empty(0, dtype=np.int64)
    k = min(k, len(scores))
    best = np.argpartition(-scores, k - 1)[:k] if k < len(scores) else np.arange(len(scores))
    # A tie at the cut is settled by row too, so that the ranking does not depend on the partition.
    best = np.union1d(best, np.flatnonzero(scores == scores[best].min()))
    return best[np.lexsort((best, -scores[best]))][:k].astype(np.int64)
