"""How questions that come without a split are shared out among train, dev and test."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate

from statgraph.law.records import SPLITS
from statgraph.law.topics import topics

SHARES = (0.60, 0.15, 0.25)

# From the labels of groups of questions and their texts, by the groups' ids, to the split of each group.
Splitting = Callable[[Mapping[str, Collection[str]], Mapping[str, str]], dict[str, str]]


def split_of(question_id: str, shares: Sequence[float] = SHARES) -> str:
    """Return "train", "dev" or "test" for a question, by the SHA-256 of its id.

    `shares` are the parts of the three splits, in that order; they sum to 1. A question keeps its split whatever
    other questions come and go.
    """
    place = int.from_bytes(hashlib.sha256(question_id.encode("utf-8")).digest()[:8], "big") / 2**64
    return next((split for split, end in zip(SPLITS, accumulate(shares), strict=True) if place < end), SPLITS[0])


def by_hash(labels: Mapping[str, Collection[str]], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the split of each group by its id alone."""
    return {group: split_of(group) for group in labels}


def by_labels(labels: Mapping[str, Collection[str]], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the split of each group, the same for groups that share most of their labels (`near_duplicates`): that of
    the smallest id among them."""
    leaders = {group: min(linked) for linked in near_duplicates(labels) for group in linked}
    return {group: split_of(leaders[group]) for group in labels}


def by_topics(labels: Mapping[str, Collection[str]], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the split of each group, the same for all of a topic (`statgraph.law.topics`): dev and test ask about what
    training does not. The splits are as large as whole topics allow."""
    groups = sorted(labels)
    members: dict[int, list[str]] = {}
    for group, topic in zip(groups, topics([texts.get(group, group) for group in groups]).tolist(), strict=True):
        members.setdefault(topic, []).append(group)
    splits: dict[str, str] = {}
    for topic_groups in sorted(members.values(), key=lambda names: hashlib.sha256(names[0].encode("utf-8")).digest()):
        middle = (len(splits) + len(topic_groups) / 2) / len(groups)
        split = next(split for split, end in zip(SPLITS, accumulate(SHARES), strict=True) if middle < end)
        splits |= dict.fromkeys(topic_groups, split)
    return splits


def near_duplicates(labels: Mapping[str, Collection[str]]) -> list[set[str]]:
    """Return the groups in sets that share most of their labels: more than half of those that either has. So do groups
    that share most of theirs with a third."""
    from scipy.cluster.hierarchy import DisjointSet

    sets = DisjointSet(labels)
    for first, second in _alike(labels):
        sets.merge(first, second)
    return list(sets.subsets())


def with_near_duplicates(labels: Mapping[str, Collection[str]], others: Collection[str]) -> set[str]:
    """Return the groups that share most of their labels with another of those named in `others`."""
    pairs = list(_alike(labels))
    return {group for pair in pairs for group, other in (pair, reversed(pair)) if other in others}


def _alike(labels: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of groups that share most of their labels."""
    seen: dict[str, list[str]] = {}
    for group in sorted(labels):
        own = set(labels[group])
        for other in {other for label in own for other in seen.get(label, ())}:
            if 2 * len(own.intersection(labels[other])) > len(own.union(labels[other])):
                yield other, group
        for label in own:
            seen.setdefault(label, []).append(group)


HASH = "hash"
SPLITTINGS: dict[str, Splitting] = {HASH: by_hash, "by-labels": by_labels, "by-topics": by_topics}
