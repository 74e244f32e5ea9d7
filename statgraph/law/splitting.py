"""How questions that come without a split are shared out among train, dev and test."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate

from statgraph.law.records import SPLITS

SHARES = (0.60, 0.15, 0.25)

# From the labels of groups of questions, by the groups' ids, to the split of each group.
Splitting = Callable[[Mapping[str, Collection[str]]], dict[str, str]]


def split_of(question_id: str, shares: Sequence[float] = SHARES) -> str:
    """Return "train", "dev" or "test" for a question, by the SHA-256 of its id.

    `shares` are the parts of the three splits, in that order; they sum to 1. A question keeps its split whatever
    other questions come and go.

    Raises:
        ValueError: if the shares are not three numbers from 0 to 1 that sum to 1.
    """
    if len(shares) != len(SPLITS) or min(shares) < 0 or not math.isclose(sum(shares), 1.0):
        raise ValueError(f"shares {tuple(shares)}: give {len(SPLITS)} numbers from 0 to 1 that sum to 1")
    place = int.from_bytes(hashlib.sha256(question_id.encode("utf-8")).digest()[:8], "big") / 2**64
    return next((split for split, end in zip(SPLITS, accumulate(shares), strict=True) if place < end), SPLITS[0])


def by_hash(labels: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the split of each group by its id alone."""
    return {group: split_of(group) for group in labels}


def by_labels(labels: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the split of each group, the same for groups that share most of their labels (`near_duplicates`): that of
    the smallest id among them."""
    leaders = {group: min(linked) for linked in near_duplicates(labels) for group in linked}
    return {group: split_of(leaders[group]) for group in labels}


def near_duplicates(
    labels: Mapping[str, Collection[str]], known: Mapping[str, str] | None = None, max_size: float = math.inf
) -> list[set[str]]:
    """Return the groups in sets that share most of their labels: more than half of those that either has.

    So do groups that share most of theirs with a third. The most alike are joined first, as far as a set keeps to
    `max_size` groups: a chain of likenesses cannot become one set of everything. `known` names for a group another
    with which it is in one set whatever their labels and the size.
    """
    from scipy.cluster.hierarchy import DisjointSet

    sets = DisjointSet(labels)
    for group, other in (known or {}).items():
        sets.merge(group, other)
    for _, first, second in sorted(_alike(labels)):
        if sets.connected(first, second) or sets.subset_size(first) + sets.subset_size(second) <= max_size:
            sets.merge(first, second)
    return list(sets.subsets())


def with_near_duplicates(labels: Mapping[str, Collection[str]], others: Collection[str]) -> set[str]:
    """Return the groups that share most of their labels with another of those named in `others`."""
    pairs = [pair for _, *pair in _alike(labels)]
    return {group for pair in pairs for group, other in (pair, reversed(pair)) if other in others}


def _alike(labels: Mapping[str, Collection[str]]) -> Iterator[tuple[float, str, str]]:
    """Yield the pairs of groups that share most of their labels, behind the negative share, the most alike lowest."""
    seen: dict[str, list[str]] = {}
    for group in sorted(labels):
        own = set(labels[group])
        for other in {other for label in own for other in seen.get(label, ())}:
            share = len(own.intersection(labels[other])) / len(own.union(labels[other]))
            if share > 0.5:
                yield -share, other, group
        for label in own:
            seen.setdefault(label, []).append(group)


HASH = "hash"
SPLITTINGS: dict[str, Splitting] = {HASH: by_hash, "by-labels": by_labels}
