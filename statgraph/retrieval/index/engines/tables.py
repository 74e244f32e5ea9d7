"""What engines share that keep articles in a table of a database: conditions as expressions, paths as texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from statgraph.config import IndexConfig
from statgraph.law.allowed_rows import ANYWHERE, Where
from statgraph.retrieval.index.engines.contract import IndexEngine, RankedIds, State
from statgraph.retrieval.index.ivf_pq_index import default_probes
from statgraph.retrieval.index.vectors import inner_products
from statgraph.retrieval.lexical.bm25 import best_rows

PATH_END = "\x1f"  # the unit separator, which no title has
_MAX_COMPARED = 20_000


class TableEngine(IndexEngine):
    """An engine of a table that is asked by expressions on its columns, with an approximate index if it is large."""

    def __init__(self, uri: str, state: State, config: IndexConfig | None = None):
        super().__init__(uri, state, config)
        self._lists = 0  # of the approximate index; 0 where there is none
        self._counts: dict[Where, int] = {}  # by the conditions that a reader has been asked for

    def _probes(self, k: int, where: Where) -> int:
        """Return how many lists of the approximate index to read; 0 to compare all articles that meet the condition."""
        if not self._lists:
            return 0
        for condition in (where, ANYWHERE):
            if condition not in self._counts:
                self._counts[condition] = self._count(condition)
        return probes_of(self._lists, self._counts[where], self._counts[ANYWHERE], k)

    @abstractmethod
    def _count(self, where: Where) -> int:
        """Return how many articles meet a condition."""


def expression(where: Where, quoted: Callable[[str], str], brackets: str) -> str:
    """Return a condition as databases write it, blank for none; `quoted` returns a text as the database's literal,
    `brackets` open and close a list of them."""

    def listed(texts: Sequence[str]) -> str:
        return f"{brackets[0]}{', '.join(map(quoted, texts))}{brackets[1]}"

    parts = []
    if where.codes:
        parts.append(f"code in {listed(where.codes)}")
    if where.heading:
        first = path_key(where.heading)
        after = first[:-1] + chr(ord(PATH_END) + 1)  # the first text after all that begin with it
        parts.append(f"path >= {quoted(first)} and path < {quoted(after)}")
    if where.day is not None:
        parts.append(f"valid_from <= {where.day} and valid_to > {where.day}")
    if where.ids is not None:
        parts.append(f"id in {listed(where.ids)}")
    return " and ".join(parts)


def ranked_ids(ids: Sequence[str], vectors: np.ndarray, query: np.ndarray, k: int) -> RankedIds:
    """Return the best `k` articles, with their vectors (articles, width) float32, by inner product with one (width,).

    An engine's own scores differ from ours in the last bits, or are a distance; these are those of `ArticleIndex`.
    """
    scores = inner_products(vectors, query)
    rows = best_rows(scores, k)
    return RankedIds(tuple(ids[row] for row in rows), scores[rows])


def probes_of(lists: int, n_met: int, n_articles: int, k: int) -> int:
    """Return how many of the lists to read for the best `k` of the `n_met` articles that meet a condition; 0 to compare
    all of them, which is exact, where they are few."""
    if n_met <= max(_MAX_COMPARED, k):
        return 0
    # As many articles that meet it as the lists hold of all that are read without a condition.
    return min(lists, -(-default_probes(lists) * n_articles // n_met))


def path_key(path: Sequence[str]) -> str:
    """Return a path as one text: an article is under a heading if its key begins with the heading's."""
    return "".join(f"{title}{PATH_END}" for title in path)
