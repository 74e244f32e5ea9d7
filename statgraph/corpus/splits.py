"""The split of a question whose source names none: fixed by the question's id, the same on every machine."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from statgraph.corpus.records import SPLITS

SHARES = (0.60, 0.15, 0.25)


def split_of(question_id: str, shares: Sequence[float] = SHARES) -> str:
    """Return "train", "dev" or "test" for a question, by the SHA-256 of its id.

    `shares` are the parts of the three splits, in that order; they sum to 1. A question keeps its split whatever
    other questions come and go.

    Raises:
        ValueError: if the shares are not three numbers from 0 to 1 that sum to 1.
    """
    if len(shares) != len(SPLITS) or min(shares) < 0 or not math.isclose(sum(shares), 1.0):
        raise ValueError(f"shares {tuple(shares)}: give {len(SPLITS)} numbers from 0 to 1 that sum to 1")
    place = int.from_bytes(hashlib.sha256(question_id.encode("utf-8")).digest()[:8], "big") / 2**64  # in [0, 1)
    reached = 0.0
    for split, share in zip(SPLITS, shares, strict=True):
        reached += share
        if place < reached and share > 0:
            return split
    return next(split for split, share in zip(reversed(SPLITS), reversed(shares), strict=True) if share > 0)
