"""The candidates of a question: what signals propose and what surrounds the best of it, with each signal's scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.citations.references import Ragged
from statgraph.law.structure import Structure, gathered
from statgraph.retrieval.signals.signal import Proposal

SCALE_DEPTH = 200
_MAX_NEIGHBOURS = 1000  # that the structure adds


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a question, with what each signal gives them.

    Attributes:
        rows: (candidates,) int64 article rows, ascending.
        signals: their names.
        raw: (signals, candidates) float32, the scores by which each signal orders them.
        own: (signals, candidates) float32, each signal's scores on its own scale, which all questions share: of a long
            question the best of those for itself and its sentences, else as `raw`.
        scaled: (signals, candidates) float32, from 0 to 1: a signal's best article has 1, one at a certain place 0.
        structure: of the law.
    """

    rows: np.ndarray
    signals: tuple[str, ...]
    raw: np.ndarray
    own: np.ndarray
    scaled: np.ndarray
    structure: Structure

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, signal: str) -> np.ndarray:
        """Return the scores by which a signal orders the candidates, (candidates,) float32."""
        scores: np.ndarray = self.raw[self.signals.index(signal)]
        return scores

    def best(self, scores: np.ndarray, k: int) -> Candidates:
        """Return the `k` candidates with the best scores, in the order of rows."""
        return self if k >= len(self) else self.at(np.sort(np.argsort(-scores, kind="stable")[:k]))

    def at(self, places: np.ndarray) -> Candidates:
        """Return the candidates at these places."""
        raw, own, scaled = (scores[:, places] for scores in (self.raw, self.own, self.scaled))
        return Candidates(self.rows[places], self.signals, raw, own, scaled, self.structure)

    def ranked(self, scores: np.ndarray) -> np.ndarray:
        """Return the rows by score, (candidates,), best first, ties by row."""
        rows: np.ndarray = self.rows[np.argsort(-scores, kind="stable")]
        return rows

    def around(self, scores: np.ndarray) -> np.ndarray:
        """Return the best score around each candidate, (3, candidates) float32: under the same heading, its own
        included; of those that cite it; of those that it cites. It is 0 where there is none; an article has a say only
        if it is a candidate too."""
        scores = scores.astype(np.float32, copy=False)
        section, citing, cited = self._surroundings
        return np.stack([_best_of_group(section, scores), _best_along(citing, scores), _best_along(cited, scores)])

    @cached_property
    def _surroundings(self) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        citations = self.structure.citations
        section = np.unique(self.structure.section[self.rows], return_inverse=True)[1]
        return section, _edges_among(self.rows, citations.referred_by), _edges_among(self.rows, citations.refers_to)


def candidates_of(
    proposals: Sequence[Proposal],
    signals: Sequence[str],
    weights: np.ndarray,
    structure: Structure,
    *,
    near: int,
    allowed: AllowedRows | None = None,
) -> Candidates:
    """Return a question's candidates among the allowed rows (None allows all).

    They are what the signals propose and, of the `near` best of these by the weighted sum, the articles of the same
    section, those that they cite and those that cite them. The best article of a signal has its confidence, as a rule
    1; its `SCALE_DEPTH`-th best or less (of a small law, half of its articles) has 0. Absolute scores stay as they are.

    Args:
        proposals: one for each signal.
        signals: their names.
        weights: those of their sum, (signals,).
        structure: of the law.
        near: for how many of the best the surroundings are candidates.
        allowed: the rows to search.
    """
    scales = [Scale.of(each.candidates.scores, scale_depth(len(structure)), each) for each in proposals]
    rows = united([proposal.candidates.rows for proposal in proposals])
    raw = np.stack([proposal.scores(rows) for proposal in proposals]) if len(rows) else np.zeros((len(proposals), 0))
    sums = weights @ _scaled(raw, scales, proposals)
    nearby = _nearby(rows[np.argsort(-sums, kind="stable")[:near]], structure, allowed)
    added = np.setdiff1d(nearby, rows, assume_unique=True)
    if len(added):
        merged = np.concatenate([rows, added])
        order = np.argsort(merged, kind="stable")
        raw = np.hstack([raw, np.stack([proposal.scores(added) for proposal in proposals])])[:, order]
        rows = merged[order]
    scaled = _scaled(raw, scales, proposals)
    raw = raw.astype(np.float32)
    is_long = any(proposal.best_part is not None for proposal in proposals)
    own = np.stack([proposal.own_scores(rows) for proposal in proposals]) if is_long and len(rows) else raw
    return Candidates(rows.astype(np.int64), tuple(signals), raw, own, scaled, structure)


@dataclass(frozen=True)
class Scale:
    """From a signal's scores for a question to units: its best article has 1, one at a certain place 0."""

    low: float
    span: float

    @classmethod
    def of(cls, falling: np.ndarray, depth: int, proposal: Proposal) -> Scale:
        """Return the scale of a proposal's scores, best first, of which 0 is the `depth`-th.

        Where there are fewer, 0 is the proposal's floor, or the last where it has none. One that is absolute has its
        own.
        """
        if proposal.absolute:
            return cls(0.0, 1.0)
        floor = proposal.floor
        if not len(falling):
            return cls(0.0, 0.0)
        few = len(falling) < depth
        low = floor if few and floor is not None else float(falling[-1 if few else depth - 1])
        return cls(low, float(falling[0]) - low)

    def units(self, scores: np.ndarray) -> np.ndarray:
        """Return scores in units, below 0 and above 1 too; 0 for all where the scale says nothing."""
        return (scores - self.low) / self.span if self.span > 0 else np.zeros(scores.shape, dtype=np.float32)


def scale_depth(n_articles: int) -> int:
    """Return the place of the article that has 0 of a signal."""
    # In a law of three articles the one in the middle must not be the best: then no signal would say anything.
    return max(2, min(SCALE_DEPTH, n_articles // 2))


def united(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return all of some article rows once, ascending; `np.unique` hashes them, which takes ten times as long."""
    ascending = np.sort(np.concatenate(rows))
    return ascending[np.diff(ascending, prepend=-1) > 0]


def _scaled(raw: np.ndarray, scales: Sequence[Scale], proposals: Sequence[Proposal]) -> np.ndarray:
    """Return (signals, candidates) float32: units from 0 to 1, times each proposal's confidence."""
    return np.stack(
        [
            np.float32(proposal.confidence) * np.clip(scale.units(scores), 0, 1)
            for scores, scale, proposal in zip(raw, scales, proposals, strict=True)
        ]
    ).astype(np.float32, copy=False)


def _nearby(best: np.ndarray, structure: Structure, allowed: AllowedRows | None) -> np.ndarray:
    """Return the articles around the best ones, those around the very best first where there are too many."""
    around = [
        gathered(structure.members, structure.section[best]),
        gathered(structure.citations.refers_to, best),
        gathered(structure.citations.referred_by, best),
    ]
    rows = np.concatenate([values for values, _ in around])
    order = np.argsort(np.concatenate([places for _, places in around]), kind="stable")
    rows = rows[order].astype(np.int64)
    if allowed is not None:
        rows = rows[allowed.mask[rows]]
    return united([rows[:_MAX_NEIGHBOURS]])


def _best_of_group(groups: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return for each candidate the best score in its group, its own included."""
    best: np.ndarray = np.full(len(scores), -np.inf, dtype=np.float32)
    np.maximum.at(best, groups, scores)
    of_own_group: np.ndarray = best[groups]
    return of_own_group


def _edges_among(rows: np.ndarray, edges: Ragged) -> tuple[np.ndarray, np.ndarray]:
    """Return (places of the candidates at the other end, places of the candidates themselves)."""
    others, owners = gathered(edges, rows)
    places = np.minimum(np.searchsorted(rows, others), len(rows) - 1)
    among = rows[places] == others
    return places[among], owners[among]


def _best_along(edges: tuple[np.ndarray, np.ndarray], scores: np.ndarray) -> np.ndarray:
    """Return for each candidate the best score at the other end of its edges; 0 where it has none."""
    best = np.zeros(len(scores), dtype=np.float32)
    others, owners = edges
    np.maximum.at(best, owners, scores[others])
    return best
