"""Seeds for every part of a run, so that an epoch draws the same numbers whether or not the run was interrupted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from statgraph.graph.dgl_loader import load_dgl, single_threaded


def derived_seed(*parts: object) -> int:
    """Return a 63-bit seed that depends on every part and on nothing else."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "little") >> 1


def seed_everything(seed: int, *, with_graph: bool = False, rank: int = 0) -> np.random.Generator:
    """Seed torch (and DGL's sampler where the graph is in use) and return a NumPy generator of the same seed.

    The generator draws what all processes agree on, such as batches. Dropout and the neighbours of a process's own
    rows come from torch and DGL, whose seeds differ by world rank: with equal ones row i of every part would be
    dropped alike.
    """
    # Where a process's first `exp` is shared by two threads, one of them now and then gets a kernel of lower accuracy
    # (off by up to 1e-4; seen in 5 of 310 processes with torch 2.13, in none of 360 after a call like this one), and an
    # interrupted run would not repeat an uninterrupted one.
    torch.zeros(1).exp()
    torch.manual_seed(_own_seed(seed, rank))
    if with_graph:
        seed_sampler(seed, rank=rank)
    return np.random.default_rng(seed)


def seed_sampler(seed: int, *, rank: int = 0) -> None:
    """Seed DGL's sampler for the thread that calls, as `seed_everything` does."""
    with single_threaded():
        load_dgl().seed(_own_seed(seed, rank) % 2**31)


def _own_seed(seed: int, rank: int) -> int:
    return derived_seed(seed, "rank", rank) if rank else seed


@contextmanager
def reproducible_sums(device: torch.device) -> Iterator[None]:
    """Run the block with sums in a fixed order on a CPU, where it costs no time; a GPU is left as it is.

    The gradient of `table[rows]` otherwise adds up in the order in which threads arrive, and rounds accordingly.
    """
    wanted = device.type == "cpu"
    was_on, was_filled = (
        torch.are_deterministic_algorithms_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
    )
    warned_only = torch.is_deterministic_algorithms_warn_only_enabled()
    if wanted:
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was_on, warn_only=warned_only)
        torch.utils.deterministic.fill_uninitialized_memory = was_filled
