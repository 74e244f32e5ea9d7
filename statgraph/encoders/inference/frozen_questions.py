"""Questions as a frozen transformer pools them, each read once and kept in the cache, for a training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np

# Of each transformer, by its key, what reads questions; None outside `questions_kept`.
_KEPT: ContextVar[dict[str, FrozenQuestions] | None] = ContextVar("kept", default=None)


@contextmanager
def questions_kept() -> Iterator[None]:
    """Let transformers that encoders share read each question once within the block, and take from the cache what they
    have read before.

    A training asks every fold's members the same questions, and members trained as heads have read them already.
    """
    known = _KEPT.get()
    token = _KEPT.set({} if known is None else known)
    try:
        yield
    finally:
        _KEPT.reset(token)


def frozen_questions(key: str, folder: Path, device: str) -> FrozenQuestions | None:
    """Return what reads questions by the transformer in a sentence-transformers folder, the same for equal keys; None
    outside `questions_kept`."""
    kept = _KEPT.get()
    if kept is None:
        return None
    if key not in kept:
        kept[key] = FrozenQuestions(folder, device)
    return kept[key]


class FrozenQuestions:
    """The transformer and pooling of a query encoder, which compute what frozen encoders do in training, in the same
    precision."""

    def __init__(self, folder: Path, device: str):
        from statgraph.device import pick_device
        from statgraph.encoders.backbones import resolve_backbone
        from statgraph.encoders.loading import loaded_tower

        self._tower = loaded_tower(resolve_backbone(str(folder)), pick_device(device))
        self._cache = self._tower.vector_cache  # before the weights are rounded

    def pooled(self, questions: Sequence[str]) -> np.ndarray:
        """Return the pooled vectors, (questions, width) float32."""
        from statgraph.encoders.frozen import embedded_chunks

        return embedded_chunks(self._tower, self._token_ids(questions), cache=self._cache).astype(np.float32)

    def pooled_and_tokens(self, texts: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the pooled vectors, and of each text those of its tokens, (tokens, width) float32, which are not
        kept."""
        from statgraph.encoders.frozen import embedded_tokens

        return self.pooled(texts), embedded_tokens(self._tower, self._token_ids(texts))

    def passage_tokens(self, passages: Sequence[str]) -> list[np.ndarray]:
        """Return the vectors of each passage's tokens, (tokens, width) float32."""
        from statgraph.encoders.frozen import embedded_tokens

        return embedded_tokens(self._tower, self._token_ids(passages, self._tower.backbone.passage_prefix))

    def _token_ids(self, texts: Sequence[str], prefix: str | None = None) -> Sequence[Sequence[int]]:
        """Return the token ids of each text, a question's unless a prefix is given."""
        from statgraph.encoders.loading import most_tokens

        tower, longest = self._tower, most_tokens(self._tower.tokenizer, self._tower.model)
        prefix = tower.backbone.query_prefix if prefix is None else prefix
        return tower.chunks(texts, prefix=prefix, chunk_tokens=longest, max_tokens=longest).chunk_ids
