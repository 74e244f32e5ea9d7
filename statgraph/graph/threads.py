"""One thread where several would make DGL's draws depend on which comes first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from statgraph.graph.dgl_loader import load_dgl


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run the block on one thread, DGL's work included.

    DGL's sampler draws from a generator per thread, and threads share the work as they come: on two of them equal seeds
    give other blocks. On blocks of a batch's size the threads cost more than they save.
    """
    import torch

    # DGL and torch may each have brought an OpenMP of their own.
    pools = (load_dgl().utils, torch)
    before = [pool.get_num_threads() for pool in pools]
    for pool in pools:
        pool.set_num_threads(1)
    try:
        yield
    finally:
        for pool, threads in zip(pools, before, strict=True):
            pool.set_num_threads(threads)
