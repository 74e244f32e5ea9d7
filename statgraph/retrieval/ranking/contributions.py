"""What each signal and each structural fact contributed to the score of an article, and which other article lent it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.citations.references import ragged_row
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.features import ARTICLE, OF_CITED, OF_CITING, OF_PARENT, OF_SECTION, SUM, Features

# The sources beside the signals. What a ranker gives every candidate alike is `base`.
SECTION, PARENT, CITED_BY, CITES = "section", "parent", "cited_by", "cites"
ALL, READER, BASE = "all", "reader", "base"
_OF_ASPECT = {OF_SECTION: SECTION, OF_PARENT: PARENT, OF_CITING: CITED_BY, OF_CITED: CITES}


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
    """Return for each article the parts that add up to its score, largest first whatever their sign, `base` last.

    There are none for an article that is not in the ranking of `k` among the allowed rows.
    """
    (candidates,) = ensemble.candidates([question], k, allowed)
    finalists = ensemble.finalists(candidates, k)
    ranking = _Ranking(ensemble, candidates, finalists, *ensemble.scores(question, finalists))
    return ranking.parts(np.asarray(rows, dtype=np.int64))


class _Ranking:
    def __init__(
        self, ensemble: Ensemble, candidates: Features, finalists: Features, scores: np.ndarray, read: np.ndarray
    ):
        self._ensemble = ensemble
        self._candidates = candidates
        self._finalists = finalists
        self._sums = candidates.column(SUM, "scaled") if len(candidates.rows) else np.zeros(0, dtype=np.float32)
        self._scores = scores
        self._read = read
        order = np.argsort(-(scores + read), kind="stable")
        self._ranks = {int(row): rank for rank, row in enumerate(finalists.rows[order], start=1)}

    def parts(self, rows: np.ndarray) -> list[list[Part]]:
        ranked = [row for row in rows.tolist() if row in self._ranks]
        if not ranked:
            return [[] for _ in rows]
        finalists = self._finalists
        places = np.searchsorted(finalists.rows, ranked)
        shown = Features(finalists.rows[places], finalists.names, finalists.values[places])
        amounts = self._ensemble.ranker.contributions(shown)
        if self._ensemble.ranker.keeps_first:
            amounts[:, -1] += self._scores[places] - amounts.sum(axis=1)
        amounts = np.column_stack((amounts, self._read[places]))
        sources = [*map(_source, finalists.names), BASE, READER]
        parts = {row: self._parts_of(row, sources, own) for row, own in zip(ranked, amounts, strict=True)}
        return [parts.get(row, []) for row in rows.tolist()]

    def _parts_of(self, row: int, sources: Sequence[str], amounts: np.ndarray) -> list[Part]:
        sums: dict[str, float] = dict.fromkeys(sources, 0.0)
        for source, amount in zip(sources, amounts.tolist(), strict=True):
            sums[source] += amount
        parts = [self._part(row, source, amount) for source, amount in sums.items() if amount]
        return sorted(parts, key=lambda part: (part.source == BASE, -abs(part.amount)))

    def _part(self, row: int, source: str, amount: float) -> Part:
        if source in _OF_ASPECT.values():
            lender = self._lender(row, source)
            return Part(source, amount, None if lender is None else self._ranks.get(lender), lender)
        if source in (ARTICLE, BASE):
            return Part(source, amount)
        if source == READER:
            return Part(source, amount, 1 + int((self._read[self._read != 0] > np.float32(amount)).sum()))
        return Part(source, amount, self._place(row, SUM if source == ALL else source))

    def _lender(self, row: int, source: str) -> int | None:
        places = self._around(row, source)
        if not len(places):
            return None
        best = places[np.argmax(self._sums[places])]
        return int(self._candidates.rows[best]) if self._sums[best] > 0 else None

    def _around(self, row: int, source: str) -> np.ndarray:
        """Return the places of the candidates in an article's section, of those that cite it, and so on."""
        structure, rows = self._ensemble.structure, self._candidates.rows
        if source in (SECTION, PARENT):
            groups = structure.section if source == SECTION else structure.parent
            return np.flatnonzero(groups[rows] == groups[row])
        citations = structure.citations
        return np.flatnonzero(
            np.isin(rows, ragged_row(citations.referred_by if source == CITED_BY else citations.refers_to, row))
        )

    def _place(self, row: int, subject: str) -> int | None:
        """Return an article's place by a signal alone; None where it is not above the scale's zero."""
        place = np.searchsorted(self._candidates.rows, row)
        if self._candidates.column(subject, "scaled")[place] <= 0:
            return None
        scores = self._sums if subject == SUM else self._candidates.column(subject, "score")
        return 1 + int((scores > scores[place]).sum())


def _source(feature: tuple[str, str]) -> str:
    """Return what a feature, (subject, aspect), is counted under."""
    subject, aspect = feature
    return _OF_ASPECT.get(aspect, ALL if subject == SUM else subject)
