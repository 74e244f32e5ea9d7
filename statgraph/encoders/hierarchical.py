"""The second level of the hierarchical article encoder: from the vectors of its chunks to one vector an article."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from statgraph.config import EncoderConfig
from statgraph.settings import check_setting


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
        check_setting(EncoderConfig, "article_pooling", pooling, place="encoder.article_pooling")
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
        """Return one vector a text, (texts, width), from (chunks, width) and the texts' offsets into them.

        Texts of equally many chunks go through together, so that nothing is padded: most articles have one or two.
        """
        lengths = np.diff(offsets)
        pooled, rows = [], []
        for length in np.unique(lengths):
            chosen = np.flatnonzero(lengths == length)
            places = torch.from_numpy(offsets[chosen][:, None] + np.arange(length)).to(vectors.device)
            chunks = vectors[places] + self.positions[:length]  # (chosen, length, width)
            for layer in self.layers:
                chunks = layer(chunks)
            pooled.append(chunks.amax(dim=1) if self.pooling == "max" else chunks.mean(dim=1))
            rows.append(torch.from_numpy(chosen))
        order = torch.argsort(torch.cat(rows)).to(vectors.device)
        return torch.cat(pooled)[order]
