"""The candidates of a question: what the signals propose, and what stands near or is cited by the best of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.law.structure import Structure, gathered
from statgraph.retrieval.signals.signal import Answer

SCALE_DEPTH = 200
_MOST_NEIGHBOURS = 1000  # that the structure adds


@dataclass(frozen=True, eq=False)
class Candidates:
    """The articles that are ranked for a question.

    Attributes:
        rows: (candidates,) int64, ascending.
        raw: (signals, candidates) float32: the scores as each signal gives them.
        scaled: (signals, candidates) float32: a signal's best article has its confidence, as a rule 1; its
            `SCALE_DEPTH`-th best or less (of a small law, half of its articles) has 0.
    """

    rows: np.ndarray
    raw: np.ndarray
    scaled: np.ndarray


class CandidateFinder:
    """Finds the candidates of a question: of the `near` best articles those of the same section, those that they cite
    and those that cite them are candidates too. `scale_depth` is the place of the article that has 0 of a signal."""

    def __init__(self, structure: Structure, *, near: int):
        self._structure = structure
        self._near = near
        # In a law of three articles the one in the middle must not be the best: then no signal would say anything.
        self.scale_depth = max(2, min(SCALE_DEPTH, len(structure) // 2))

    def candidates(
        self, answers: Sequence[Answer], proposed: Sequence[Ranked], weights: np.ndarray, allowed: AllowedRows | None
    ) -> Candidates:
        """Return the candidates for one question among the allowed rows (None is all): those that the signals propose,
        and what surrounds the best of these by the sum of `weights`, (signals,)."""
        scales = [
            Scale.of(best.scores, self.scale_depth, answer.floor)
            for answer, best in zip(answers, proposed, strict=True)
        ]
        rows = united([best.rows for best in proposed])
        raw = np.stack([answer.scores(rows) for answer in answers]) if len(rows) else np.zeros((len(answers), 0))
        sums = weights @ _scaled(raw, scales, answers)
        nearby = self._nearby(rows[np.argsort(-sums, kind="stable")[: self._near]], allowed)
        added = np.setdiff1d(nearby, rows, assume_unique=True)
        if len(added):
            merged = np.concatenate([rows, added])
            order = np.argsort(merged, kind="stable")
            raw = np.hstack([raw, np.stack([answer.scores(added) for answer in answers])])[:, order]
            rows = merged[order]
        return Candidates(rows.astype(np.int64), raw.astype(np.float32), _scaled(raw, scales, answers))

    def _nearby(self, best: np.ndarray, allowed: AllowedRows | None) -> np.ndarray:
        """Return the articles around the best ones, those around the very best first where there are too many."""
        structure = self._structure
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
        return united([rows[:_MOST_NEIGHBOURS]])


def united(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return all of some article rows once, ascending; `np.unique` hashes them, which takes ten times as long."""
    ascending = np.sort(np.concatenate(rows))
    return ascending[np.diff(ascending, prepend=-1) > 0]


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


def _scaled(raw: np.ndarray, scales: Sequence[Scale], answers: Sequence[Answer]) -> np.ndarray:
    """Return (signals, candidates) float32: units from 0 to 1, times each answer's confidence."""
    return np.stack(
        [
            np.float32(answer.confidence) * np.clip(scale.units(scores), 0, 1)
            for scores, scale, answer in zip(raw, scales, answers, strict=True)
        ]
    ).astype(np.float32, copy=False)
