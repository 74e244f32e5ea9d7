"""Three-hop blocks of a million articles, beside PyG's subgraphs and beside the training step that they feed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional

from benchmarks.rows import Row, ratio_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, taking_turns, times_faster
from statgraph.config import GnnConfig
from statgraph.graph.blocks import BlockSampler, whole_graph_block
from statgraph.graph.build import DEFAULT_RELATIONS, LegalGraph
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.gnn.encoder import GraphEncoder
from statgraph.graph.relations import ARTICLE, CITES, CONTAINS_ARTICLE, CONTAINS_HEADING, HEADING, NODE_TYPES, QUESTION
from statgraph.training.seeding import reproducible_sums

ARTICLES, QUESTIONS = 1_000_000, 100_000
ARTICLES_A_HEADING, CHILDREN_A_HEADING, ARTICLES_A_QUESTION = 10, 8, 3
SEEDS, HOPS = 512, 3
WIDTH, HEADS = 384, 8

_NOTE = (
    "Seeds are half articles, half questions, every neighbour is kept, and the seed questions' own citations are "
    "masked. Ours are DGL's NeighborSampler on one thread, with the mask and the types in one numbering. "
    "k_hop_subgraph (directed) knows no fan-out and no masking, and gives the layers one set of edges, not each layer "
    "those that it needs: a layer over it computes nodes that nobody reads. Each of its hops passes over all edges of "
    "the graph."
)


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a synthetic graph; the corpus plays no part."""
    shrink = 100 if settings.quick else 1
    graph = _legal_graph(ARTICLES // shrink, QUESTIONS // shrink, np.random.default_rng(0))
    torch.manual_seed(0)
    seeds = {node_type: torch.randperm(graph.node_counts[node_type])[: SEEDS // 2] for node_type in (ARTICLE, QUESTION)}
    sampler = BlockSampler(graph, fanouts=[-1] * HOPS)
    device = torch.device("cpu")
    works = {
        "blocks": lambda: [block.to(device) for block in sampler.sample(seeds).layers],
        "subgraph": _pyg(graph, seeds),
        "step": _training_step(graph, sampler, seeds),
    }
    with reproducible_sums(device):  # as training runs
        seconds = taking_turns(works, rounds=1 if settings.quick else 9)
    blocks = sampler.sample(seeds)
    figures = {
        "seconds": seconds,
        "block_edges": [len(block.sources) for block in blocks.layers],
        "block_inputs": [block.n_inputs for block in blocks.layers],
        "subgraph_edges": works["subgraph"](),
    }
    faster = times_faster(seconds["blocks"], seconds["subgraph"])
    share = Spread.of([mine / step for mine, step in zip(seconds["blocks"], seconds["step"], strict=True)])
    scale = f"{graph.node_counts[ARTICLE]:,} articles, {graph.node_counts[QUESTION]:,} questions"
    what = f"{HOPS}-hop blocks of {SEEDS} seeds: {scale}"
    step = f"a training step on them, {HOPS} layers, {WIDTH} wide"
    return [
        Row(what, "PyG k_hop_subgraph", "", ratio_text(faster), None, figures, _NOTE),
        Row(what, step, "below a tenth of its time", _percent(share), share.median < 0.1),
    ]


def _percent(share: Spread) -> str:
    return f"{share.median:.1%} [{share.low:.1%} to {share.high:.1%}]"


def _legal_graph(n_articles: int, n_questions: int, rng: np.random.Generator) -> LegalGraph:
    """Return a tree with its articles under headings at random, and questions that cite articles at random."""
    n_headings = n_articles // ARTICLES_A_HEADING
    children = np.arange(1, n_headings)
    citations = rng.integers(0, n_articles, (n_questions, ARTICLES_A_QUESTION))
    edges = {}
    for relation, sources, targets in (
        (CONTAINS_ARTICLE, rng.integers(0, n_headings, n_articles), np.arange(n_articles)),
        (CONTAINS_HEADING, (children - 1) // CHILDREN_A_HEADING, children),
        (CITES, np.arange(n_questions).repeat(ARTICLES_A_QUESTION), citations.ravel()),
    ):
        ends = torch.from_numpy(sources), torch.from_numpy(targets)
        edges[relation.forward_type], edges[relation.reverse_type] = ends, ends[::-1]
    counts = {ARTICLE: n_articles, HEADING: n_headings, QUESTION: n_questions}
    return LegalGraph(
        heterograph=load_dgl().heterograph(edges, num_nodes_dict=counts),
        article_ids=tuple(range(n_articles)),
        headings=tuple(range(n_headings)),
        question_ids=tuple(range(n_questions)),
        relations=DEFAULT_RELATIONS,
        corpus_hash="",
    )


def _pyg(graph: LegalGraph, seeds: dict[str, torch.Tensor]) -> Callable[[], int]:
    """Return a function that makes the subgraph and returns its number of edges."""
    from torch_geometric.utils import k_hop_subgraph

    whole = whole_graph_block(graph)
    edges = torch.stack([whole.sources, whole.targets])
    n_before = graph.node_counts[ARTICLE] + graph.node_counts[HEADING]
    rows = torch.cat([seeds[ARTICLE], seeds[QUESTION] + n_before])

    def run() -> int:
        _, kept, _, _ = k_hop_subgraph(rows, HOPS, edges, relabel_nodes=True, num_nodes=whole.n_inputs, directed=True)
        return kept.shape[1]

    return run


def _training_step(
    graph: LegalGraph, sampler: BlockSampler, seeds: dict[str, torch.Tensor]
) -> Callable[[], torch.Tensor]:
    """Return a function that runs a step on the seeds' blocks, made beforehand, and returns its loss."""
    encoder = GraphEncoder(GnnConfig(layers=HOPS, heads=HEADS), width=WIDTH, n_edge_types=len(graph.edge_types))
    optimizer = torch.optim.AdamW(encoder.parameters())
    blocks = sampler.sample(seeds)
    bank = {node_type: torch.randn(len(blocks.input_nodes[node_type]), WIDTH) for node_type in NODE_TYPES}
    own_question = torch.arange(SEEDS // 2)

    def run() -> torch.Tensor:
        nodes = torch.cat([bank[node_type] for node_type in NODE_TYPES])
        # A step meets its blocks for the first time: nothing is derived from them yet.
        enriched = encoder(nodes, [block.to(nodes.device) for block in blocks.layers])
        articles, questions = enriched.split(SEEDS // 2)
        loss = functional.cross_entropy(questions @ articles.T / 0.01, own_question)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return run
