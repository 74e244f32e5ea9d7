"""One attention layer, forward and backward over a whole graph, beside PyG's, DGL's and its own dense projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.rows import Row, Spread, ratio_text, taking_turns, times_faster
from benchmarks.settings import Settings
from statgraph.graph.blocks import Block, whole_graph_block
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.gnn.gatv2 import GatV2Layer
from statgraph.graph.gnn.kernels.head_bags import head_bags
from statgraph.graph.gnn.qabisar import QabisarLayer
from statgraph.graph.relations import NODE_TYPES
from statgraph.law.store import read_corpus
from statgraph.training.seeding import reproducible_sums

WIDTH, HEADS = 384, 8
QABISAR, GATV2, PYG, DGL, FLOOR = "QABISAR's layer", "GATv2's layer", "PyG", "DGL", "dense projections"


def measure(settings: Settings) -> list[Row]:
    """Return the rows of both layers on the corpus's tree and bipartite graph."""
    torch.manual_seed(0)
    corpus = read_corpus(settings.corpus)
    graph = build_graph(corpus)
    block = whole_graph_block(graph)
    nodes = torch.randn(block.n_inputs, WIDTH, requires_grad=True)
    gradient = torch.randn(block.n_outputs, WIDTH)
    ours = QabisarLayer(WIDTH, n_heads=HEADS, n_edge_types=len(graph.edge_types))
    gatv2 = GatV2Layer(WIDTH, n_heads=HEADS, n_edge_types=len(graph.edge_types))
    works = {
        QABISAR: there_and_back(lambda: ours(nodes, block), ours, nodes, gradient),
        GATV2: there_and_back(lambda: gatv2(nodes, block), gatv2, nodes, gradient),
        PYG: pyg(block, len(graph.edge_types), nodes, gradient),
        DGL: _dgl(graph, nodes, gradient),
        FLOOR: _floor(ours, nodes, gradient),
    }
    with reproducible_sums(torch.device("cpu")):  # as training runs
        seconds = taking_turns(works, rounds=1 if settings.quick else 9)
        largest = {name: _largest_tensor(work) for name, work in works.items() if name in (QABISAR, GATV2, PYG)}
    scale = f"{corpus.name}: {block.n_inputs:,} nodes, {len(block.sources):,} edges, {WIDTH} wide, {HEADS} heads"
    sorting = taking_turns({"sorting": lambda: head_bags(replace(block), HEADS)}, rounds=3)["sorting"]
    figures = {"seconds": seconds, "largest_tensor_elements": largest, "sorting_s": sorting}
    rows = []
    for name in (QABISAR, GATV2):
        asked = {PYG: 2.5, DGL: 1.3} if name == QABISAR else {}
        for rival in (PYG, DGL):
            faster = times_faster(seconds[name], seconds[rival])
            holds = faster.median >= asked[rival] if asked else None
            text = f"{asked[rival]} times faster" if asked else ""
            rows.append(Row(f"{name}, {scale}", rival, text, ratio_text(faster), holds, figures, _NOTES[rival]))
            figures = {}
        slower = Spread.of([own / floor for own, floor in zip(seconds[name], seconds[FLOOR], strict=True)])
        asked_text, holds = ("at most 1.5 times its time", slower.median <= 1.5) if asked else ("", None)
        rows.append(Row(f"{name}, {scale}", FLOOR, asked_text, ratio_text(slower), holds, {}, _NOTES[FLOOR]))
    per_edge = len(block.sources) * WIDTH
    rows.append(
        Row(
            f"{QABISAR}: elements of the largest tensor that an operation makes",
            "",
            f"below edges x width, {per_edge:,}",
            f"{largest[QABISAR]:,} (GATv2's {largest[GATV2]:,}, PyG's {largest[PYG]:,})",
            largest[QABISAR] < per_edge,
        )
    )
    return rows


_NOTES = {
    PYG: "GATv2Conv with edge features (an embedding for each edge type, as wide as a node); each node's loop to "
    "itself is among the edges beforehand, so that PyG need not add it.",
    DGL: "GATv2Conv for each relation, summed by HeteroGraphConv; no loops of a node to itself.",
    FLOOR: "Forward and backward of QABISAR's two Linear maps alone, on the same nodes; GATv2's are as large. Both "
    "have sorted the block's edges before (`sorting_s`): once for a whole graph, but once a step for a sampled block. "
    "Beyond the projections QABISAR's reads and writes (nodes, width) a few times; DGL's sums, torch's CSR products "
    "and sums over chunks of edges were slower than bags. GATv2's forms the vectors of a thousand edges at a time, "
    "once forward and twice backward, by target and by source. On two threads both are more sensitive to other work "
    "on the machine than a matrix product is, having many more and shorter operations.",
}


def there_and_back(
    forward: Callable[[], torch.Tensor], layer: torch.nn.Module, nodes: torch.Tensor, gradient: torch.Tensor
) -> Callable[[], None]:
    """Return a function that runs a layer forward and backward, with new gradients, its input's included."""

    def run() -> None:
        layer.zero_grad()
        nodes.grad = None
        forward().backward(gradient)

    return run


def pyg(block: Block, n_types: int, nodes: torch.Tensor, gradient: torch.Tensor) -> Callable[[], None]:
    """Return a function that runs PyG's GATv2Conv over a block forward and backward, where the nodes' vectors are."""
    from torch_geometric.nn import GATv2Conv

    layer = GATv2Conv(WIDTH, WIDTH // HEADS, heads=HEADS, edge_dim=WIDTH, add_self_loops=False)
    layer.edge_embeddings = torch.nn.Embedding(n_types + 1, WIDTH)
    layer.to(nodes.device)
    own = torch.arange(block.n_inputs, device=nodes.device)
    edges = torch.cat([torch.stack([block.sources, block.targets]), torch.stack([own, own])], dim=1)
    types = torch.cat([block.edge_types, torch.full_like(own, n_types)])
    return there_and_back(lambda: layer(nodes, edges, layer.edge_embeddings(types)), layer, nodes, gradient)


def _dgl(graph: LegalGraph, nodes: torch.Tensor, gradient: torch.Tensor) -> Callable[[], None]:
    convolutions = load_dgl().nn.pytorch
    layer = convolutions.HeteroGraphConv(
        {
            name: convolutions.GATv2Conv(WIDTH, WIDTH // HEADS, HEADS, allow_zero_in_degree=True)
            for _, name, _ in graph.edge_types
        },
        aggregate="sum",
    )
    counts = list(graph.node_counts.values())

    def forward() -> torch.Tensor:
        out = layer(graph.heterograph, dict(zip(NODE_TYPES, nodes.split(counts), strict=True)))
        return torch.cat([out[node_type].flatten(1) for node_type in NODE_TYPES])

    return there_and_back(forward, layer, nodes, gradient)


def _floor(layer: QabisarLayer, nodes: torch.Tensor, gradient: torch.Tensor) -> Callable[[], None]:
    def run() -> None:
        layer.zero_grad()
        nodes.grad = None
        projected = [layer.source_projection(nodes), layer.target_projection(nodes)]
        torch.autograd.backward(projected, [gradient, gradient])

    return run


class _LargestTensor(TorchDispatchMode):
    """Notes the elements of the largest tensor of floating point that an operation gives back, views included."""

    def __init__(self):
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                self.elements = max(self.elements, tensor.numel())
        return out


def _largest_tensor(work: Callable[[], object]) -> int:
    with _LargestTensor() as mode:
        work()
    return mode.elements
