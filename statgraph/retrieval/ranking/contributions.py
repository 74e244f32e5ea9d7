"""What each signal and each structural fact contributed to the score of an article, and which other article lent it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.citations.references import ragged_row
from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.weighted_sum import AROUND, CITED_BY, SECTION

READER = "reader"  # a source beside the signals and what stands around an article


@dataclass(frozen=True)
class Part:
    """A part of the score of an article, as `statgraph.retrieval.search.hits.Contribution` explains.

    `lender` is the row of the article that is best in the section and so on, by the sum of the signals; None for other
    sources, and where the best has nothing to lend.
    """

    source: str
    amount: float
    rank: int | None = None
    lender: int | None = None


def score_parts(
    ensemble: Ensemble, question: str, rows: Sequence[int], k: int, allowed: AllowedRows | None = None
) -> list[list[Part]]:
    """Return for each article the parts that add up to its score, largest first.

    There are none for an article that is no candidate in a ranking of `k` among the allowed rows.
    """
    (candidates,) = ensemble.candidates([question], k, allowed)
    ranking = _Ranking(ensemble, candidates, *ensemble.scores(question, candidates))
    return [ranking.parts(row) for row in rows]


class _Ranking:
    def __init__(self, ensemble: Ensemble, candidates: Candidates, scores: np.ndarray, read: np.ndarray):
        self._citations = ensemble.structure.citations
        self._section = ensemble.structure.section
        self._candidates = candidates
        self._totals = ensemble.ranker.totals(candidates)
        self._read = read
        self._terms = {**ensemble.ranker.terms(candidates), READER: read}
        order = np.argsort(-(scores + read), kind="stable")
        self._ranks = {int(row): rank for rank, row in enumerate(candidates.rows[order], start=1)}

    def parts(self, row: int) -> list[Part]:
        if row not in self._ranks:
            return []
        place = int(np.searchsorted(self._candidates.rows, row))
        amounts = {source: float(values[place]) for source, values in self._terms.items()}
        parts = [self._part(place, source, amount) for source, amount in amounts.items() if amount]
        return sorted(parts, key=lambda part: -abs(part.amount))

    def _part(self, place: int, source: str, amount: float) -> Part:
        if source in AROUND:
            lender = self._lender(int(self._candidates.rows[place]), source)
            return Part(source, amount, None if lender is None else self._ranks.get(lender), lender)
        if source == READER:
            return Part(source, amount, 1 + int((self._read[self._read != 0] > np.float32(amount)).sum()))
        scores = self._candidates.of(source)
        return Part(source, amount, 1 + int((scores > scores[place]).sum()))

    def _lender(self, row: int, source: str) -> int | None:
        places = self._around(row, source)
        if not len(places):
            return None
        best = places[np.argmax(self._totals[places])]
        return int(self._candidates.rows[best]) if self._totals[best] > 0 else None

    def _around(self, row: int, source: str) -> np.ndarray:
        """Return the places of the candidates in an article's section, of those that cite it, or that it cites."""
        rows = self._candidates.rows
        if source == SECTION:
            return np.flatnonzero(self._section[rows] == self._section[row])
        edges = self._citations.referred_by if source == CITED_BY else self._citations.refers_to
        return np.flatnonzero(np.isin(rows, ragged_row(edges, row)))
