"""The static encoder: one vector and one weight per word piece, summed over a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from statgraph.encoders.similarity import SIMILARITIES, Similarity

FLOOR = 1e-8  # keeps the length of a text without tokens from being zero; far below a token's share
_SIF_A = 1e-3  # Arora et al. 2017, section 3: the smoothing constant of the inverse-frequency weights


@dataclass(frozen=True)
class TokenBags:
    """Texts as bags of token ids: `ids` (tokens,) int64, `offsets` (texts + 1,) int64."""

    ids: torch.Tensor
    offsets: torch.Tensor

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: torch.Tensor) -> TokenBags:
        """Return the bags of these rows, in their order."""
        lengths = (self.offsets[1:] - self.offsets[:-1])[rows]
        offsets = functional.pad(lengths.cumsum(0), (1, 0))
        within = torch.arange(int(offsets[-1])) - offsets[:-1].repeat_interleave(lengths)
        return TokenBags(self.ids[self.offsets[:-1][rows].repeat_interleave(lengths) + within], offsets)

    def to(self, device: torch.device) -> TokenBags:
        """Return the same bags on a device."""
        return TokenBags(self.ids.to(device), self.offsets.to(device))


def token_bags(tokenizer, texts: Sequence[str], *, max_tokens: int) -> TokenBags:
    """Return the texts as bags of at most `max_tokens` ids each, without special tokens."""
    ids: list[np.ndarray] = []
    for start in range(0, len(texts), 4096):
        encodings = tokenizer.encode_batch_fast(list(texts[start : start + 4096]), add_special_tokens=False)
        ids.extend(np.array(encoding.ids[:max_tokens], dtype=np.int64) for encoding in encodings)
    lengths = np.array([len(text_ids) for text_ids in ids], dtype=np.int64)
    flat = np.concatenate(ids) if ids else np.empty(0, dtype=np.int64)
    return TokenBags(torch.from_numpy(flat), torch.from_numpy(np.concatenate([[0], lengths.cumsum()])))


class StaticEncoder(nn.Module):
    """An EmbeddingBag with a learnt weight per token: v(text) = mean over tokens of weight[t] * vectors[t], at unit
    length where the similarity is the cosine.

    Args:
        vectors: (vocabulary, width) float32, the start of the token vectors.
        weights: (vocabulary,) float32, the start of the token weights.
        token_dropout: share of a text's tokens left out in training, 0 to 1.
        similarity: what the vectors are compared by.
    """

    def __init__(
        self,
        vectors: torch.Tensor,
        weights: torch.Tensor,
        *,
        token_dropout: float = 0.0,
        similarity: Similarity = SIMILARITIES["cosine"],
    ):
        super().__init__()
        self.similarity = similarity
        self.vectors = nn.Parameter(vectors.clone())
        self.weights = nn.Parameter(weights.clone())
        self.token_dropout = token_dropout

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self.vectors.shape[1]

    def forward(self, bags: TokenBags) -> torch.Tensor:
        """Return vectors (texts, width); texts without a known token all get the same one."""
        weights = self.weights[bags.ids]  # (tokens,)
        if self.training and self.token_dropout:
            weights = functional.dropout(weights, self.token_dropout)
        summed = functional.embedding_bag(
            bags.ids, self.vectors, bags.offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
        )
        lengths = (bags.offsets[1:] - bags.offsets[:-1]).clamp(min=1).unsqueeze(1)
        return self.similarity.finished(summed / lengths + FLOOR)


def distilled_token_vectors(pieces: torch.Tensor, counts: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (vectors, weights) distilled from what a transformer says of each piece of a vocabulary by itself.

    The mean over the vocabulary is removed and PCA turns the axes, as model2vec does. The weights are a / (a +
    p(token)) (SIF: Arora et al. 2017, equation 3).

    Args:
        pieces: (vocabulary, width) float32, the mean over each piece with its special tokens.
        counts: (vocabulary,) how often each occurs in the corpus.

    Returns:
        float32 tensors (vocabulary, width) and (vocabulary,).
    """
    centred = pieces - pieces.mean(dim=0)
    _, axes = torch.linalg.eigh(centred.T @ centred)  # ascending
    turned = functional.normalize(centred @ axes.flip(1), dim=1)
    share = torch.from_numpy(np.maximum(counts, 1) / max(counts.sum(), 1)).float()
    return turned, _SIF_A / (_SIF_A + share)
