"""Hashes of texts, to tell which have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

HASH_BYTES = 16


def text_hashes(texts: Sequence[str]) -> np.ndarray:
    """Return the BLAKE2b hash of each text, (texts, 16) uint8."""
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES) for text in texts)
    flat = np.frombuffer(b"".join(digest.digest() for digest in digests), dtype=np.uint8)
    return flat.reshape(-1, HASH_BYTES)
