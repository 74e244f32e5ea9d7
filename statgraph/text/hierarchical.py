"""The second level of the hierarchical article encoder: from the vectors of its chunks to one vector an article."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from statgraph.errors import UsageError

POOLINGS = ("mean", "max")


class ChunkEncoder(nn.Module):
    """Positions, a small transformer and pooling over chunk vectors (Pappagari et al. 2019; G-DSR, section 3.1).

    It starts as the plain pooling of its inputs: position vectors and the layers' output projections are zero, so that
    training departs from the backbone's own geometry and not from noise.

    Args:
        width: components of a chunk vector.
        max_chunks: most chunks a text can have.
        n_layers: transformer layers.
        n_heads: attention heads; the largest number up to it that divides the width is used.
        dropout: share of components left out in training.
        pooling: mean or max over the chunks.
    """

    def __init__(self, width: int, *, max_chunks: int, n_layers: int, n_heads: int, dropout: float, pooling: str):
        super().__init__()
        if pooling not in POOLINGS:
            raise UsageError(f"encoder.article_pooling: '{pooling}' is not known; use {' or '.join(POOLINGS)}")
        heads = next(heads for heads in range(n_heads, 0, -1) if width % heads == 0)
        self.positions = nn.Parameter(torch.zeros(max_chunks, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(n_layers)
        )
        for layer in self.layers:
            for projection in (layer.self_attn.out_proj, layer.linear2):
                nn.init.zeros_(projection.weight)
                nn.init.zeros_(projection.bias)
        self.pooling = pooling

    def forward(self, vectors: torch.Tensor, offsets: np.ndarray) -> torch.Tensor:
        """Return one vector a text, (texts, width), from (chunks, width) and the texts' offsets into them."""
        lengths = torch.from_numpy(np.diff(offsets))
        longest = int(lengths.max())
        padding = (torch.arange(longest) >= lengths.unsqueeze(1)).to(vectors.device)  # (texts, longest)
        grid = vectors.new_zeros(len(lengths), longest, vectors.shape[1])
        grid[~padding] = vectors
        grid = grid + self.positions[:longest]
        for layer in self.layers:
            grid = layer(grid, src_key_padding_mask=padding)
        if self.pooling == "max":
            return grid.masked_fill(padding.unsqueeze(-1), -torch.inf).amax(dim=1)
        return grid.masked_fill(padding.unsqueeze(-1), 0).sum(dim=1) / lengths.to(grid).unsqueeze(1)
