"""The strata of a split: by the articles that training has seen, by labels, lengths, kinds and topics.

Beside `STRATA`, a question is in one stratum of each family that it has a value for:

- `like training` or `unlike training`: whether its words are near to those of a training question.
- `gold: ...`: how many articles answer it.
- `length: ...`: the median number of words of those articles; one long article among many short ones counts little.
- `kind: ...`: the text under `kind` of its metadata.
- `topic: ...`: the first text under `TOPIC_KEYS` of its metadata.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from statgraph.law.records import Article, Question

LIKE, UNLIKE = "like training", "unlike training"
SHORT, LONG = "short questions", "long questions"  # in comparisons of runs
# In every report, with or without a question; strata of the families are left out where they have none.
ALL = "all"
STRATA = (ALL, "seen", "unseen")

TOPIC = "topic: "
# What sources call the subject of a question, best first: fact sheets and the sample, users' tables, BSARD.
TOPIC_KEYS = ("topic", "theme", "category")
KIND_KEYS = ("kind",)

# (name, the first value that is too large). Chosen from the labels of legi-fr's training split: 1 to 49 articles a
# question, and medians of 47 to 212 words from the first decile to the last.
GOLD_BINS = (("1", 2), ("2-5", 6), ("6-20", 21), ("over 20", math.inf))
LENGTH_BINS = (("under 75 words", 75), ("75-124 words", 125), ("over 124 words", math.inf))


def strata_masks(
    questions: Sequence[Question],
    relevant_rows: Sequence[Sequence[int]],
    articles: Sequence[Article],
    training_rows: Iterable[Iterable[int]],
    like: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Return for each stratum which questions it holds, (questions,) bool: `STRATA`, then each family's.

    A question is seen if a training question is labelled with any of its articles. Bins come in their own order,
    kinds and topics by their number of questions, most first. `relevant_rows` are the article rows of each question, at
    least one; `training_rows` those of each training question; `like` (questions,) bool says which are like a training
    question, None where nothing can be.
    """
    cited = {row for rows in training_rows for row in rows}
    seen = np.array([not cited.isdisjoint(rows) for rows in relevant_rows], dtype=bool)
    masks = {ALL: np.ones(len(seen), dtype=bool), "seen": seen, "unseen": ~seen}
    n_words = {row: len(articles[row].text.split()) for rows in relevant_rows for row in rows}
    gold = [_bin(GOLD_BINS, len(set(rows))) for rows in relevant_rows]
    length = [_bin(LENGTH_BINS, np.median([n_words[row] for row in set(rows)])) for rows in relevant_rows]
    kinds = [_first_text(question.metadata, KIND_KEYS) for question in questions]
    topics = [_first_text(question.metadata, TOPIC_KEYS) for question in questions]
    return {
        **masks,
        **({} if like is None else {LIKE: like, UNLIKE: ~like}),
        **_family("gold: ", gold, [name for name, _ in GOLD_BINS]),
        **_family("length: ", length, [name for name, _ in LENGTH_BINS]),
        **_family("kind: ", kinds, _by_size(kinds)),
        **_family(TOPIC, topics, _by_size(topics)),
    }


def _bin(bins: Sequence[tuple[str, float]], value: float) -> str:
    return next(name for name, too_large in bins if value < too_large)


def _first_text(metadata: Mapping[str, object], keys: Iterable[str]) -> str:
    """Return the first value of the keys that is a text and not blank, or ""."""
    values = (metadata.get(key) for key in keys)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def _by_size(names: Iterable[str]) -> list[str]:
    counts = Counter(name for name in names if name)
    return sorted(counts, key=lambda name: (-counts[name], name))


def _family(prefix: str, names: Sequence[str], order: Iterable[str]) -> dict[str, np.ndarray]:
    present = set(names)
    return {
        prefix + wanted: np.array([name == wanted for name in names], dtype=bool)
        for wanted in order
        if wanted in present
    }
