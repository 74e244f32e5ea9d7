"""Which engine computes an exact search: our own on the CPU, FAISS on a GPU, or torch where only torch has the GPU."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.device import pick_device, surely_cpu
from statgraph.index.coded_scan import CodedScan
from statgraph.index.faiss_files import vectors_view
from statgraph.index.faiss_gpu import FaissGpu
from statgraph.index.torch_engine import TorchEngine


class Engine(Protocol):
    """Searches among the vectors of the `faiss.IndexFlatIP` that it was made with.

    Attributes:
        orders_ties: whether equal scores stand by row, those at the cut too; else in any order.
    """

    orders_ties: bool

    def search(
        self, queries: np.ndarray, depth: int, allowed: AllowedRows | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, depth), best first.

        `queries` is (queries, width) float32; `allowed` the rows to search, or None for all; `depth` is at
        most their number.
        """


def pick_engine(flat, device: str) -> Engine:
    """Return the engine that searches a `faiss.IndexFlatIP` on a device (`auto`, `cpu` or `cuda`).

    Raises:
        UsageError: if the device is not known, or `cuda` is asked for where there is none.
    """
    if device in ("auto", "cuda") and faiss_has_gpu():
        return FaissGpu(flat)
    if surely_cpu(device):  # spares the import of torch
        return CodedScan(vectors_view(flat))
    picked = pick_device(device)
    return TorchEngine(flat, picked) if picked.type == "cuda" else CodedScan(vectors_view(flat))


def faiss_has_gpu() -> bool:
    """Return whether the installed FAISS is a GPU build that sees a GPU."""
    import faiss

    return hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0
