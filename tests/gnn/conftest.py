"""Blocks written out by hand or drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

from statgraph.graph.blocks import Block


@pytest.fixture(scope="session")
def block_of() -> Callable[..., Block]:
    """Return a function that makes a block of (source, target, edge type) edges; without `own_inputs` the outputs are
    the inputs."""

    def make(edges: Sequence[tuple[int, int, int]], *, n_inputs: int, own_inputs: Sequence[int] | None = None) -> Block:
        sources, targets, edge_types = torch.tensor(edges, dtype=torch.int64).reshape(-1, 3).T
        own = torch.arange(n_inputs) if own_inputs is None else torch.tensor(own_inputs, dtype=torch.int64)
        return Block(sources, targets, edge_types, own, n_inputs)

    return make


@pytest.fixture(scope="session")
def random_block(block_of: Callable[..., Block]) -> Callable[..., Block]:
    """Return a function that draws a block of 7 inputs, 5 outputs, 3 edge types; the last output has no edge."""

    def draw(n_edges: int = 16, seed: int = 0) -> Block:
        generator = torch.Generator().manual_seed(seed)
        edges = [torch.randint(size, (n_edges,), generator=generator).tolist() for size in (7, 4, 3)]
        own = torch.randperm(7, generator=generator)[:5].tolist()
        return block_of(list(zip(*edges, strict=True)), n_inputs=7, own_inputs=own)

    return draw
