"""Seeds for every part of a run, so that an epoch draws the same numbers whether or not the run was interrupted."""

from __future__ import annotations

import hashlib

import numpy as np
import torch

from statgraph.graph.dgl_loader import load_dgl


def derived_seed(*parts: object) -> int:
    """Return a 63-bit seed that depends on every part and on nothing else."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "little") >> 1


def seed_everything(seed: int, *, with_graph: bool = False) -> np.random.Generator:
    """Seed torch (and DGL's sampler where the graph is in use) and return a NumPy generator of the same seed."""
    torch.manual_seed(seed)
    if with_graph:
        load_dgl().seed(seed % 2**31)
    return np.random.default_rng(seed)
