"""What engines share that keep articles as rows of a database's table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar

import numpy as np

from statgraph.corpus.where import ANYWHERE, Where
from statgraph.index.engines.contract import IndexEngine, Ranking
from statgraph.index.exact_search import inner_products

PATH_END = "\x1f"  # the unit separator, which no title has
_EXACT_MOST = 20_000
_PROBED_SHARE, _LEAST_PROBES = 8, 64


class TableEngine(IndexEngine):
    """An engine of a table that is asked by expressions on its columns, with an approximate index if it is large.

    Attributes:
        ids_at_once: how many ids a request may hold.
    """

    ids_at_once: ClassVar[int]

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self._lists = 0  # of the approximate index; 0 where there is none
        self._counts: dict[Where, int] = {}  # of what a reader has been asked

    def count(self, where: Where = ANYWHERE) -> int:
        """Return how many articles meet a condition."""
        if not self.width or where.ids == ():
            return 0
        with self._told():
            return self._count(where)

    def _vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        with self._told():
            for some in self._in_parts(ids):
                found |= self._rows_of(some)
        return found

    def _in_parts(self, ids: Sequence[str]) -> Iterator[Where]:
        """Yield the conditions that name articles, as many at once as a request may hold."""
        for start in range(0, len(ids), self.ids_at_once):
            yield Where(ids=tuple(ids[start : start + self.ids_at_once]))

    def _probes(self, k: int, where: Where) -> int:
        """Return how many lists of the approximate index to read; 0 to compare all that meet the condition, as a writer
        does."""
        if self._writing or not self._lists:
            return 0
        for condition in (where, ANYWHERE):
            if condition not in self._counts:
                self._counts[condition] = self.count(condition)
        return probes_of(self._lists, self._counts[where], self._counts[ANYWHERE], k)

    @abstractmethod
    def _told(self) -> AbstractContextManager[None]:
        """Return what raises the database's errors as EngineError, one line with the place."""

    @abstractmethod
    def _count(self, where: Where) -> int: ...

    @abstractmethod
    def _rows_of(self, where: Where) -> dict[str, np.ndarray]:
        """Return the vectors, (width,) float32, of at most `ids_at_once` articles by id."""


def expression(where: Where, quoted: Callable[[str], str], brackets: str) -> str:
    """Return a condition as databases write it; blank where there is none.

    Args:
        where: the condition.
        quoted: returns a text as the database's literal.
        brackets: what opens and closes a list of them.
    """

    def listed(texts: Sequence[str]) -> str:
        return f"{brackets[0]}{', '.join(map(quoted, texts))}{brackets[1]}"

    parts = []
    if where.codes:
        parts.append(f"code in {listed(where.codes)}")
    if where.heading:
        first, after = path_range(where.heading)
        parts.append(f"path >= {quoted(first)} and path < {quoted(after)}")
    if where.day is not None:
        parts.append(f"valid_from <= {where.day} and valid_to > {where.day}")
    if where.ids is not None:
        parts.append(f"id in {listed(where.ids)}")
    return " and ".join(parts)


def ranked(ids: Sequence[str], vectors: np.ndarray, query: np.ndarray) -> Ranking:
    """Return articles, with their vectors (articles, width) float32, by their inner product with a vector (width,).

    An engine's own scores differ from ours in the last bits, or are a distance; these are those of `ArticleIndex`.
    """
    rows = np.arange(len(ids))[None]
    scores = (
        inner_products(np.ascontiguousarray(vectors), query[None], rows)[0] if len(ids) else np.empty(0, np.float32)
    )
    best = np.argsort(-scores, kind="stable")
    return Ranking(tuple(ids[row] for row in best), scores[best])


def lists_of(n_articles: int) -> int:
    """Return how many lists an approximate index of so many articles has, as that of kind ivf-pq."""
    return 2 ** (int(2 * n_articles**0.5).bit_length() - 1)


def probes_of(lists: int, n_met: int, n_articles: int, k: int) -> int:
    """Return how many of the lists to read for a question; 0 to compare all articles that meet the condition.

    Args:
        lists: how many there are.
        n_met: how many articles meet the condition: where these are few, all are compared, and recall is exact.
        n_articles: how many there are.
        k: how many are asked for.
    """
    if n_met <= max(_EXACT_MOST, k):
        return 0
    probes = max(_LEAST_PROBES, lists // _PROBED_SHARE)
    return min(lists, -(-probes * n_articles // n_met))  # as many articles that meet it as `probes` lists hold of all


def path_key(path: Sequence[str]) -> str:
    """Return a path as one text: an article is under a heading if its key begins with the heading's."""
    return "".join(f"{title}{PATH_END}" for title in path)


def path_range(heading: Sequence[str]) -> tuple[str, str]:
    """Return the first key of the articles under a heading, and the first after them, as texts are ordered."""
    key = path_key(heading)
    return key, key[:-1] + chr(ord(PATH_END) + 1)
