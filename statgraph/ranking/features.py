"""What is known of a question's candidates: each signal's scores, those of their surroundings, facts of the article."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.corpus.citations.references import Ragged
from statgraph.corpus.structure import Structure, gathered
from statgraph.ranking.candidates import Candidates

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
    """Return the features of a question's candidates.

    Args:
        candidates: with the signals' scores.
        structure: of the law.
        signals: the signals' names, in the order of the scores.
        weights: (signals,) of the sum.
    """
    rows, around = candidates.rows, _Around(candidates.rows, structure)
    columns: list[np.ndarray] = []
    for raw, scaled in zip(candidates.raw, candidates.scaled, strict=True):
        columns += raw, scaled, around.best_of_section(scaled), around.best_of_parent(scaled)
    total = weights @ candidates.scaled  # (candidates,)
    rank = np.empty(len(rows), dtype=np.float32)
    rank[np.argsort(-total, kind="stable")] = np.log1p(np.arange(len(rows)))
    columns += total, rank, around.best_of_section(total), around.best_of_parent(total)
    columns += around.best_of_citing(total), around.best_of_cited(total)
    columns += (fact[rows] for fact in structure.facts)
    return Features(rows, feature_names(signals), np.stack(columns, axis=1, dtype=np.float32, casting="same_kind"))


class _Around:
    """The surroundings of a question's candidates among themselves: an article that no signal proposes has no say."""

    def __init__(self, rows: np.ndarray, structure: Structure):
        self._rows = rows
        self._sections = _Groups(structure.section[rows])
        self._parents = _Groups(structure.parent[rows])
        self._citing = self._edges(structure.citations.referred_by)
        self._cited = self._edges(structure.citations.refers_to)

    def best_of_section(self, scores: np.ndarray) -> np.ndarray:
        """Return the best score of the candidates directly under the same heading, the article among them."""
        return self._sections.best(scores)

    def best_of_parent(self, scores: np.ndarray) -> np.ndarray:
        """Return the best score of the candidates anywhere under the heading above that."""
        return self._parents.best(scores)

    def best_of_citing(self, scores: np.ndarray) -> np.ndarray:
        """Return the best score of the candidates that cite each; 0 where none does."""
        return self._best_along(self._citing, scores)

    def best_of_cited(self, scores: np.ndarray) -> np.ndarray:
        """Return the best score of the candidates that each cites; 0 where it cites none."""
        return self._best_along(self._cited, scores)

    def _edges(self, ragged: Ragged) -> tuple[np.ndarray, np.ndarray]:
        """Return (places of the candidates at the other end, places of the candidates themselves)."""
        others, owners = gathered(ragged, self._rows)
        places = np.searchsorted(self._rows, others)
        places[places == len(self._rows)] = 0
        known = self._rows[places] == others if len(self._rows) else np.zeros(0, dtype=bool)
        return places[known], owners[known]

    def _best_along(self, edges: tuple[np.ndarray, np.ndarray], scores: np.ndarray) -> np.ndarray:
        best = np.zeros(len(self._rows), dtype=np.float32)
        others, owners = edges
        np.maximum.at(best, owners, scores[others])
        return best


class _Groups:
    """Candidates that belong together, and the best of each one's group."""

    def __init__(self, keys: np.ndarray):
        self._order = np.argsort(keys, kind="stable")
        begins = np.diff(keys[self._order], prepend=-1) != 0
        self._starts = np.flatnonzero(begins)
        self._group = np.cumsum(begins) - 1

    def best(self, scores: np.ndarray) -> np.ndarray:
        """Return for each the best score of its group."""
        best = np.empty(len(scores), dtype=np.float32)
        if len(scores):
            best[self._order] = np.maximum.reduceat(scores[self._order], self._starts)[self._group]
        return best
