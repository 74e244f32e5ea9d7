"""Drawing pairs for batches and knowing which articles of a batch answer which of its questions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from statgraph.training.pairs import PairSource


class PairStream:
    """Draws pairs of a source without repeating one before all have come."""

    def __init__(self, source: PairSource, rng: np.random.Generator):
        if not len(source.pairs):
            raise ValueError(f"{source.name}: has no pairs to draw from")
        self._source = source
        self._rng = rng
        self._left = np.empty(0, dtype=np.int64)

    def draw(self, count: int) -> np.ndarray:
        """Return `count` pairs, (count, 2) int64: text row and article row."""
        drawn = []
        while count:
            if not len(self._left):
                self._left = self._rng.permutation(len(self._source.pairs))
            drawn.append(self._left[:count])
            self._left = self._left[count:]
            count -= len(drawn[-1])
        return self._source.pairs[np.concatenate(drawn)] if drawn else np.empty((0, 2), dtype=np.int64)


def epoch_steps(n_pairs: int, batch_size: int, min_steps: int) -> int:
    """Return the number of batches of an epoch: one pass over the pairs, and more passes up to `min_steps`."""
    return max(math.ceil(n_pairs / batch_size), min_steps)


def epoch_of(
    pairs: np.ndarray, batch_size: int, rng: np.random.Generator, *, min_steps: int = 0
) -> Iterator[np.ndarray]:
    """Yield `epoch_steps` batches of (at most) `batch_size` pairs: every pair once, shuffled, then again where more
    are wanted."""
    left = epoch_steps(len(pairs), batch_size, min_steps)
    while left:
        order = rng.permutation(len(pairs))
        for start in range(0, len(pairs), batch_size):
            if not left:
                return
            yield pairs[order[start : start + batch_size]]
            left -= 1


def batch_shares(weights: Mapping[str, float], batch_size: int) -> dict[str, int]:
    """Return how many pairs of a batch each source gives: in proportion to its weight, the first one at least one where
    it has a weight, and the last one what is left over.

    Raises:
        ValueError: if no source has a weight.
    """
    total = sum(weights.values())
    if not total:
        raise ValueError("no source of pairs has a weight; give one a weight above 0")
    names = [name for name, weight in weights.items() if weight]
    sizes = dict.fromkeys(weights, 0)
    for place, name in enumerate(names):
        left = batch_size - sum(sizes.values())
        share = round(batch_size * weights[name] / total)
        sizes[name] = left if name == names[-1] else min(left, max(share, 1 if place == 0 else 0))
    return sizes


def answers_among(source: PairSource, text_rows: Sequence[int], article_rows: np.ndarray) -> np.ndarray:
    """Return which of the articles answer which of the texts, (texts, articles) bool."""
    answers = np.zeros((len(text_rows), len(article_rows)), dtype=bool)
    for row, text_row in enumerate(text_rows):
        known = source.answers_of(text_row)
        places = np.minimum(np.searchsorted(known, article_rows), len(known) - 1)
        answers[row] = known[places] == article_rows
    return answers
