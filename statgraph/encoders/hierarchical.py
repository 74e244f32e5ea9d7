"""The second level of the hierarchical article encoder: from the vectors of its chunks to one vector an article."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from statgraph.device import on_device


class ChunkEncoder(nn.Module):  # type: ignore[misc]
    """Positions, a small transformer and pooling over chunk vectors (Pappagari et al. 2019; G-DSR, section 3.1).

    It starts as the plain pooling of its inputs: position vectors and the layers' output projections are zero, so that
    training departs from the backbone's own geometry and not from noise. With `start` random it starts as G-DSR's code
    does: random weights (Glorot and Bengio 2010), a norm behind each layer and the last, and sinusoidal positions.

    Args:
        width: components of a chunk vector.
        max_chunks: most chunks a text can have.
        n_layers: transformer layers.
        n_heads: attention heads; the largest number up to it that divides the width is used.
        dropout: share of components left out in training.
        pooling: mean or max over the chunks.
        start: identity or random.
    """

    def __init__(
        self,
        width: int,
        *,
        max_chunks: int,
        n_layers: int,
        n_heads: int,
        dropout: float,
        pooling: str,
        start: str = "identity",
    ):
        super().__init__()
        heads = next(heads for heads in range(n_heads, 0, -1) if width % heads == 0)
        is_random = start == "random" and n_layers > 0
        self.positions = nn.Parameter(_sinusoids(max_chunks, width) if is_random else torch.zeros(max_chunks, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout, activation="gelu", batch_first=True, norm_first=not is_random
            )
            for _ in range(n_layers)
        )
        if is_random:
            for weight in self.layers.parameters():
                if weight.dim() > 1:
                    nn.init.xavier_uniform_(weight)
            self.layers.append(nn.LayerNorm(width))
        else:
            for projection in (part for layer in self.layers for part in (layer.self_attn.out_proj, layer.linear2)):
                nn.init.zeros_(projection.weight)
                nn.init.zeros_(projection.bias)
        self.pooling = pooling

    def forward(self, vectors: torch.Tensor, offsets: np.ndarray) -> torch.Tensor:
        """Return one vector a text, (texts, width), from (chunks, width) and the texts' offsets into them.

        Texts of equally many chunks go through together, so that nothing is padded: most articles have one or two.
        """
        lengths = np.diff(offsets)
        pooled, rows = [], []
        for length in np.unique(lengths):
            chosen = np.flatnonzero(lengths == length)
            places = torch.from_numpy(offsets[chosen][:, None] + np.arange(length))
            chunks = vectors[on_device(places, vectors.device)] + self.positions[:length]  # (chosen, length, width)
            for layer in self.layers:
                chunks = layer(chunks)
            pooled.append(chunks.amax(dim=1) if self.pooling == "max" else chunks.mean(dim=1))
            rows.append(torch.from_numpy(chosen))
        order = torch.argsort(torch.cat(rows))
        return torch.cat(pooled)[on_device(order, vectors.device)]


def _sinusoids(length: int, width: int) -> torch.Tensor:
    """Return sinusoidal positions from 1 on, (length, width): sines, then cosines (Vaswani et al. 2017)."""
    half = width // 2
    rates = torch.exp(torch.arange(half) * (-math.log(10_000) / max(1, half - 1)))
    angles = torch.arange(1, length + 1)[:, None] * rates
    return nn.functional.pad(torch.cat([angles.sin(), angles.cos()], dim=1), (0, width % 2))
