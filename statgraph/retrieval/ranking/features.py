"""What is known of a question's candidates: each signal's scores, those of their surroundings, facts of the article."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.law.citations.references import Ragged
from statgraph.law.structure import Structure, gathered
from statgraph.retrieval.ranking.candidates import Candidates

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
    of_signals = [(signal, aspect) for signal in signals for aspect in ("score", "scaled", OF_SECTION, OF_PARENT)]
    of_sum = [(SUM, aspect) for aspect in ("scaled", RANK, OF_SECTION, OF_PARENT, OF_CITING, OF_CITED)]
    return (*of_signals, *of_sum, *((ARTICLE, fact) for fact in FACTS))


def direction(name: tuple[str, str]) -> int:
    """Return which way a feature may move a score: up (1) with what signals say, down (-1) with the place in their
    order, either way (0) with a fact of the article."""
    subject, aspect = name
    if subject == ARTICLE:
        return 0
    return -1 if aspect == RANK else 1


def features(candidates: Candidates, structure: Structure, signals: Sequence[str], weights: np.ndarray) -> Features:
    """Return the features of a question's candidates; their surroundings are candidates too: an article that no signal
    proposes has no say. `signals` are the signals' names, `weights` (signals,) those of their sum.
    """
    rows, citations = candidates.rows, structure.citations
    section, parent = (np.unique(key[rows], return_inverse=True)[1] for key in (structure.section, structure.parent))
    citing, cited = (_edges_among(rows, edges) for edges in (citations.referred_by, citations.refers_to))
    columns: list[np.ndarray] = []
    for raw, scaled in zip(candidates.raw, candidates.scaled, strict=True):
        columns += raw, scaled, _best_of_group(section, scaled), _best_of_group(parent, scaled)
    total = weights @ candidates.scaled  # (candidates,)
    rank = np.empty(len(rows), dtype=np.float32)
    rank[np.argsort(-total, kind="stable")] = np.log1p(np.arange(len(rows)))
    columns += total, rank, _best_of_group(section, total), _best_of_group(parent, total)
    columns += _best_along(citing, total), _best_along(cited, total)
    columns += (fact[rows] for fact in structure.facts)
    return Features(rows, feature_names(signals), np.stack(columns, axis=1, dtype=np.float32, casting="same_kind"))


def _best_of_group(groups: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return for each candidate the best score in its group, its own included."""
    best = np.full(len(scores), -np.inf, dtype=np.float32)
    np.maximum.at(best, groups, scores)
    return best[groups]


def _edges_among(rows: np.ndarray, edges: Ragged) -> tuple[np.ndarray, np.ndarray]:
    """Return (places of the candidates at the other end, places of the candidates themselves)."""
    others, owners = gathered(edges, rows)
    known = np.isin(others, rows)
    return np.searchsorted(rows, others[known]), owners[known]


def _best_along(edges: tuple[np.ndarray, np.ndarray], scores: np.ndarray) -> np.ndarray:
    """Return for each candidate the best score at the other end of its edges; 0 where it has none."""
    best = np.zeros(len(scores), dtype=np.float32)
    others, owners = edges
    np.maximum.at(best, owners, scores[others])
    return best
