"""One attention layer, forward and backward over a whole graph, beside PyG's and DGL's."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import torch

from benchmarks.measuring import Row, Settings, ratio_text, taking_turns, times_faster
from statgraph.graph.blocks import Block, whole_graph_block
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.gnn.qabisar import QabisarLayer
from statgraph.graph.relations import NODE_TYPES
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus
from statgraph.training.seeding import reproducible_sums

WIDTH, HEADS = 384, 8
OURS, PYG, DGL = "QABISAR's layer", "PyG", "DGL"
_NOTES = {
    PYG: "GATv2Conv with edge features (an embedding for each edge type, as wide as a node); each node's loop to "
    "itself is among the edges beforehand, so that PyG need not add it.",
    DGL: "GATv2Conv for each relation, summed by HeteroGraphConv; no loops of a node to itself.",
}


def measure(settings: Settings) -> list[Row]:
    """Return the rows of QABISAR's layer on the corpus's tree and bipartite graph."""
    return rows_on(read_corpus(settings.corpus), torch.device("cpu"), rounds=1 if settings.quick else 9)


def rows_on(corpus: Corpus, device: torch.device, *, rounds: int) -> list[Row]:
    """Return the rows of QABISAR's layer on a device beside the rivals that are there; DGL's build is for CPUs."""
    torch.manual_seed(0)
    graph = build_graph(corpus)
    block, n_types = whole_graph_block(graph).to(device), len(graph.edge_types)
    nodes = torch.randn(block.n_inputs, WIDTH, device=device, requires_grad=True)
    gradient = torch.randn(block.n_outputs, WIDTH, device=device)
    layer = QabisarLayer(WIDTH, n_heads=HEADS, n_edge_types=n_types).to(device)
    works = {OURS: _there_and_back(lambda: layer(nodes, block), layer, nodes, gradient)}
    if find_spec("torch_geometric"):
        works[PYG] = _pyg(block, n_types, nodes, gradient)
    if device.type == "cpu":
        works[DGL] = _dgl(graph, nodes, gradient)
    with reproducible_sums(device):  # as training runs
        seconds = taking_turns(works, range(rounds))
    place = "" if device.type == "cpu" else " on a GPU"
    scale = f"{corpus.name}: {block.n_inputs:,} nodes, {len(block.sources):,} edges, {WIDTH} wide, {HEADS} heads"
    rows = []
    for rival, note in _NOTES.items():
        if rival in works:
            faster, figures = times_faster(seconds[OURS], seconds[rival]), {OURS: seconds[OURS], rival: seconds[rival]}
            rows.append(Row(f"{OURS}{place}, {scale}", rival, ratio_text(faster), figures, note))
    return rows


def _there_and_back(
    forward: Callable[[], torch.Tensor], layer: torch.nn.Module, nodes: torch.Tensor, gradient: torch.Tensor
) -> Callable[[int], None]:
    """Return a function of a round that runs a layer forward and backward, with new gradients, its input's included."""

    def run(_: int) -> None:
        layer.zero_grad()
        nodes.grad = None
        forward().backward(gradient)
        if nodes.is_cuda:
            torch.cuda.synchronize()

    return run


def _pyg(block: Block, n_types: int, nodes: torch.Tensor, gradient: torch.Tensor) -> Callable[[int], None]:
    from torch_geometric.nn import GATv2Conv

    layer = GATv2Conv(WIDTH, WIDTH // HEADS, heads=HEADS, edge_dim=WIDTH, add_self_loops=False)
    layer.edge_embeddings = torch.nn.Embedding(n_types + 1, WIDTH)
    layer.to(nodes.device)
    own = torch.arange(block.n_inputs, device=nodes.device)
    edges = torch.cat([torch.stack([block.sources, block.targets]), torch.stack([own, own])], dim=1)
    types = torch.cat([block.edge_types, torch.full_like(own, n_types)])
    return _there_and_back(lambda: layer(nodes, edges, layer.edge_embeddings(types)), layer, nodes, gradient)


def _dgl(graph: LegalGraph, nodes: torch.Tensor, gradient: torch.Tensor) -> Callable[[int], None]:
    convolutions = load_dgl().nn.pytorch
    of_relation = {
        name: convolutions.GATv2Conv(WIDTH, WIDTH // HEADS, HEADS, allow_zero_in_degree=True)
        for _, name, _ in graph.edge_types
    }
    layer = convolutions.HeteroGraphConv(of_relation, aggregate="sum")
    counts = list(graph.node_counts.values())

    def forward() -> torch.Tensor:
        out = layer(graph.heterograph, dict(zip(NODE_TYPES, nodes.split(counts), strict=True)))
        return torch.cat([out[node_type].flatten(1) for node_type in NODE_TYPES])

    return _there_and_back(forward, layer, nodes, gradient)
