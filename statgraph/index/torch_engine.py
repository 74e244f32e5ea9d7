"""Exact search by one matrix product and `topk` in torch, for GPUs that the installed FAISS does not know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows

# Scores of one block of queries against all articles, in float32 values: 1 GiB.
_BLOCK_SCORES = 1 << 28


class TorchEngine:
    """Exact search on a torch device; the vectors are copied there once."""

    orders_ties = False

    def __init__(self, flat, device):
        import torch

        self._vectors = torch.from_numpy(flat.reconstruct_n(0, flat.ntotal)).to(device)  # (articles, width)

    def search(
        self, queries: np.ndarray, depth: int, allowed: AllowedRows | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, depth), best first."""
        import torch

        scores = np.empty((len(queries), depth), dtype=np.float32)
        rows = np.empty((len(queries), depth), dtype=np.int64)
        vectors = self._vectors
        if allowed is not None:
            vectors = vectors[torch.from_numpy(allowed.rows).to(vectors.device)]  # (rows, width)
        n_block = max(1, _BLOCK_SCORES // len(vectors))
        with torch.no_grad(), _full_precision():
            for start in range(0, len(queries), n_block):
                block = slice(start, start + n_block)
                asked = torch.tensor(queries[block], device=vectors.device)
                best = torch.topk(asked @ vectors.T, depth, dim=1)  # (block, depth)
                scores[block], rows[block] = best.values.cpu().numpy(), best.indices.cpu().numpy()
        return scores, rows if allowed is None else allowed.rows[rows]


@contextmanager
def _full_precision() -> Iterator[None]:
    """Multiply float32 as float32 inside the block, whatever training has allowed (TF32 keeps 10 bits of 23)."""
    import torch

    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)
