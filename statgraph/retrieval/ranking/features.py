"""The candidates of a question: what signals propose and what surrounds the best of it. Their features: every signal's
scores, the scores of their surroundings, facts of the article."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.citations.references import Ragged
from statgraph.law.structure import Structure, gathered
from statgraph.retrieval.signals.signal import Proposal

SCALE_DEPTH = 200
_MAX_NEIGHBOURS = 1000  # that the structure adds

ARTICLE, RANK = "article", "rank"
SUM = "sum"  # of the scaled signals by the fixed ranker's weights
OF_SECTION, OF_PARENT, OF_CITING, OF_CITED = "best under the heading", "best under the heading above", "citing", "cited"
FACTS = ("place", "siblings", "times cited", "cites", "length", "depth", "kind of number")


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a question's candidates.

    Attributes:
        rows: (candidates,) int64 article rows.
        names: what each column is: (subject, aspect), the subject a signal's name, `sum` or `article`.
        values: (candidates, features) float32.
    """

    rows: np.ndarray
    names: tuple[tuple[str, str], ...]
    values: np.ndarray

    def column(self, subject: str, aspect: str) -> np.ndarray:
        """Return one feature of all candidates."""
        return self.values[:, self.names.index((subject, aspect))]

    def without(self, names: Collection[tuple[str, str]]) -> Features:
        """Return the features less those of these names; none of them need be there."""
        kept = [column for column, name in enumerate(self.names) if name not in names]
        return Features(self.rows, tuple(self.names[column] for column in kept), self.values[:, kept])

    def best(self, scores: np.ndarray, k: int) -> Features:
        """Return the features of the `k` candidates with the best scores, in the order of rows."""
        if k >= len(self.rows):
            return self
        kept = np.sort(np.argsort(-scores, kind="stable")[:k])
        return Features(self.rows[kept], self.names, self.values[kept])


def feature_names(signals: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the names of the columns that `features` makes of these signals."""
    signal_names = [(signal, aspect) for signal in signals for aspect in ("score", "scaled", OF_SECTION, OF_PARENT)]
    sum_names = [(SUM, aspect) for aspect in ("scaled", RANK, OF_SECTION, OF_PARENT, OF_CITING, OF_CITED)]
    return (*signal_names, *sum_names, *((ARTICLE, fact) for fact in FACTS))


def direction(name: tuple[str, str]) -> int:
    """Return which way a feature may move a score: up (1) with what signals say, down (-1) with the place in their
    order, either way (0) with a fact of the article."""
    subject, aspect = name
    if subject == ARTICLE:
        return 0
    return -1 if aspect == RANK else 1


def candidate_features(
    proposals: Sequence[Proposal],
    signals: Sequence[str],
    weights: np.ndarray,
    structure: Structure,
    *,
    near: int,
    allowed: AllowedRows | None = None,
) -> Features:
    """Return the features of a question's candidates among the allowed rows (None allows all).

    Candidates are what the signals propose and, of the `near` best of these by the weighted sum, the articles of the
    same section, those that they cite and those that cite them. The best article of a signal has its confidence, as a
    rule 1; its `SCALE_DEPTH`-th best or less (of a small law, half of its articles) has 0. An article has a say in its
    surroundings only if it is a candidate too.

    Args:
        proposals: one for each signal.
        signals: their names.
        weights: those of their sum, (signals,).
        structure: of the law.
        near: for how many of the best the surroundings are candidates.
        allowed: the rows to search.
    """
    rows, raw, scaled = _candidates(proposals, weights, structure, near, allowed)
    section, parent = (np.unique(key[rows], return_inverse=True)[1] for key in (structure.section, structure.parent))
    edges = structure.citations
    citing, cited = (_edges_among(rows, each) for each in (edges.referred_by, edges.refers_to))
    columns: list[np.ndarray] = []
    for own_raw, own_scaled in zip(raw, scaled, strict=True):
        columns += own_raw, own_scaled, _best_of_group(section, own_scaled), _best_of_group(parent, own_scaled)
    total = weights @ scaled  # (candidates,)
    rank = np.empty(len(rows), dtype=np.float32)
    rank[np.argsort(-total, kind="stable")] = np.log1p(np.arange(len(rows)))
    columns += total, rank, _best_of_group(section, total), _best_of_group(parent, total)
    columns += _best_along(citing, total), _best_along(cited, total)
    columns += (fact[rows] for fact in structure.facts)
    return Features(rows, feature_names(signals), np.stack(columns, axis=1, dtype=np.float32, casting="same_kind"))


def _candidates(
    proposals: Sequence[Proposal], weights: np.ndarray, structure: Structure, near: int, allowed: AllowedRows | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the candidates' rows, ascending, and (signals, candidates) float32 twice: the scores as each signal gives
    them, and in units of its scale."""
    scales = [Scale.of(each.candidates.scores, scale_depth(len(structure)), each.floor) for each in proposals]
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
    return rows.astype(np.int64), raw.astype(np.float32), _scaled(raw, scales, proposals)


@dataclass(frozen=True)
class Scale:
    """From a signal's scores for a question to units: its best article has 1, one at a certain place 0."""

    low: float
    span: float

    @classmethod
    def of(cls, falling: np.ndarray, depth: int, floor: float | None) -> Scale:
        """Return the scale of scores, best first, of which 0 is the `depth`-th.

        Where there are fewer, 0 is `floor`, the score of what is no candidate, or the last where there is none.
        """
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
    among = np.isin(others, rows)
    return np.searchsorted(rows, others[among]), owners[among]


def _best_along(edges: tuple[np.ndarray, np.ndarray], scores: np.ndarray) -> np.ndarray:
    """Return for each candidate the best score at the other end of its edges; 0 where it has none."""
    best = np.zeros(len(scores), dtype=np.float32)
    others, owners = edges
    np.maximum.at(best, owners, scores[others])
    return best
