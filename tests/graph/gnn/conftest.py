"""Blocks written out by hand or drawn at random, layers and vectors of random numbers, a graph of DGL's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

from statgraph.graph.blocks import Block
from statgraph.graph.dgl_loader import load_dgl

N_EDGE_TYPES = 3


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


@pytest.fixture(scope="session")
def random_layer() -> Callable[..., torch.nn.Module]:
    """Return a function that makes a layer of a class, all its parameters random, for `random_block`'s edge types."""

    def make(
        build: Callable[..., torch.nn.Module],
        width: int = 6,
        n_heads: int = 2,
        dtype: torch.dtype = torch.float64,
        **more: int,
    ) -> torch.nn.Module:
        torch.manual_seed(11)
        layer = build(width, n_heads=n_heads, n_edge_types=N_EDGE_TYPES, **more).to(dtype)
        for parameter in layer.parameters():
            torch.nn.init.normal_(parameter)
        return layer

    return make


@pytest.fixture(scope="session")
def node_vectors() -> Callable[..., torch.Tensor]:
    """Return a function that draws (rows, width) vectors of float64."""

    def draw(rows: int = 7, width: int = 6, seed: int = 2) -> torch.Tensor:
        return torch.randn(rows, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))

    return draw


@pytest.fixture(scope="session")
def dgl_graph(block_of: Callable[..., Block]):
    """Return (DGL graph with self loops, DGL graph without, block without) of the same 7 nodes and 16 edges.

    Node 6 has no other edge than its self loop.
    """
    generator = torch.Generator().manual_seed(1)
    sources = torch.randint(6, (16,), generator=generator)
    targets = (sources + 1 + torch.randint(5, (16,), generator=generator)) % 6
    plain = load_dgl().graph((sources, targets), num_nodes=7)
    edges = list(zip(sources.tolist(), targets.tolist(), [0] * 16, strict=True))
    return load_dgl().add_self_loop(plain), plain, block_of(edges, n_inputs=7)
