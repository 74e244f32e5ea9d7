"""L-hop blocks: the part of the graph that a layer needs to compute its outputs, sampled by DGL on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import torch

from statgraph.device import on_device
from statgraph.graph.build import LegalGraph
from statgraph.graph.dgl_loader import DGLGraph, load_dgl, single_threaded
from statgraph.graph.relations import ARTICLE, CITES, CITING, CITING_CITES, QUESTION, Relation


@dataclass(frozen=True)
class Block:
    """One layer's edges between its input nodes and its output nodes, types side by side in one numbering.

    `sources` (edges,) are positions among the inputs, `targets` (edges,) among the outputs, `edge_types` (edges,)
    places in `LegalGraph.edge_types`; `own_inputs` (outputs,) is the position of each output node among the inputs.
    What layers work out from these is kept with the block; a changed copy starts without.
    """

    sources: torch.Tensor
    targets: torch.Tensor
    edge_types: torch.Tensor
    own_inputs: torch.Tensor
    n_inputs: int

    @property
    def n_outputs(self) -> int:
        """Return the number of output nodes."""
        return len(self.own_inputs)

    @cached_property
    def keeps_all(self) -> bool:
        """Return whether the outputs are the inputs, in their order."""
        return bool(torch.equal(self.own_inputs, torch.arange(self.n_inputs, device=self.own_inputs.device)))

    @cached_property
    def head_bags(self) -> dict[tuple[int, bool], Any]:
        """Return the bags that `kernels.head_bags` has made of the block, by their options."""
        return {}

    def own(self, nodes: torch.Tensor) -> torch.Tensor:
        """Return the rows of the outputs, (outputs, ...), among those of the inputs, (inputs, ...); not a copy where
        the outputs are the inputs."""
        return nodes if self.keeps_all else nodes[self.own_inputs]

    def first_outputs(self, n_outputs: int) -> Block:
        """Return the block of the first output nodes alone, all inputs kept."""
        kept = self.targets < n_outputs
        edges = self.sources[kept], self.targets[kept], self.edge_types[kept]
        return Block(*edges, self.own_inputs[:n_outputs], self.n_inputs)

    def to(self, device: torch.device) -> Block:
        """Return the same block on a device."""
        names = ("sources", "targets", "edge_types", "own_inputs")
        moved = replace(self, **{name: on_device(getattr(self, name), device) for name in names})
        vars(moved)["keeps_all"] = self.keeps_all  # each layer would wait for a GPU to say it
        return moved


@dataclass(frozen=True)
class Blocks:
    """The blocks of a batch, the layer next to the input first.

    `input_nodes` and `output_nodes` map a node type to its rows (int64); inputs and outputs are numbered type after
    type in the order of `LegalGraph.node_types`.
    """

    layers: tuple[Block, ...]
    input_nodes: Mapping[str, torch.Tensor]
    output_nodes: Mapping[str, torch.Tensor]


# What readers say of articles: questions that they answer, texts that cite them.
_READERS = (CITES, CITING_CITES)
_VISIBLE = "visible"


class BlockSampler:
    """Samples the blocks under a set of nodes with DGL's neighbour sampler; equal seeds of DGL give equal blocks.

    Args:
        graph: the whole graph.
        fanouts: neighbours kept per node and relation, one number a layer, the layer next to the input first; -1 keeps
            all.
        target_edges: `mask` hides the edges between articles and the batch's own questions, both ways, so that the
            network cannot read the answer off them, and those of the citing texts that belong to these questions;
            `pair` hides those of the batch's own pairs alone, and `keep` leaves all in.
        citation_dropout: chance, per article and batch, that all its edges to questions and citing texts are hidden. It
            shows the network articles that no reader cites, which are most of the law.
    """

    def __init__(
        self, graph: LegalGraph, *, fanouts: Sequence[int], target_edges: str = "mask", citation_dropout: float = 0.0
    ):
        self._graph = graph
        self._target_edges = target_edges
        self._citation_dropout = citation_dropout
        self._readers = [relation for relation in _READERS if relation.forward_type in graph.edge_types]
        rows = {question_id: row for row, question_id in enumerate(graph.question_ids)}
        self._citing_questions = torch.tensor([rows.get(text.question_id, -1) for text in graph.citing]).long()
        self._heterograph = graph.heterograph.formats("csc")  # the one index that sampling needs
        self._fanouts = tuple(fanouts)

    def sample(
        self,
        output_nodes: Mapping[str, torch.Tensor],
        *,
        target_questions: torch.Tensor | None = None,
        target_pairs: torch.Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Blocks:
        """Return the blocks under the output nodes (rows by node type, each row at most once).

        Hidden edges are masked before DGL draws: left out afterwards, as its `exclude_eids` does, they would take the
        places of visible neighbours.

        Args:
            target_questions: rows of the questions that the loss asks about; the output questions where not given.
            target_pairs: (pairs, 2), the questions and articles that it asks for.
            generator: source of the citation dropout's choices.
        """
        no_rows = torch.empty(0, dtype=torch.int64)
        seeds = {node_type: output_nodes.get(node_type, no_rows) for node_type in self._graph.node_types}
        heterograph = self._heterograph.local_var()
        questions = seeds[QUESTION] if target_questions is None else target_questions
        visible = self._visible(questions, target_pairs, generator)
        for relation, edges in visible.items():
            for edge_type in relation.edge_types:  # an edge and its reverse have the same id
                heterograph.edges[edge_type].data[_VISIBLE] = edges
        layers: list[Block] = []
        nodes = seeds
        with single_threaded():
            for fanout in reversed(self._fanouts):
                layer, nodes = _sampled(heterograph, nodes, fanout)
                layers.insert(0, _block(self._graph, layer))
        return Blocks(tuple(layers), input_nodes=nodes, output_nodes=seeds)

    def _visible(
        self, questions: torch.Tensor, pairs: torch.Tensor | None, generator: torch.Generator | None
    ) -> dict[Relation, torch.Tensor]:
        """Return which edges of the readers' relations may be sampled, (edges,) bool each."""
        graph, open_articles = self._graph.heterograph, None
        if self._readers and self._citation_dropout:
            draw = torch.rand(self._graph.node_counts[ARTICLE], generator=generator)
            open_articles = draw >= self._citation_dropout
        visible = {}
        for relation in self._readers:
            edges = torch.ones(graph.num_edges(relation.forward_type), dtype=torch.bool)
            if self._target_edges == "pair" and relation.source == QUESTION and pairs is not None:
                edges[graph.edge_ids(*pairs.unique(dim=0).T.contiguous(), etype=relation.forward_type)] = False
            elif self._target_edges != "keep":
                texts = torch.isin(self._citing_questions, questions).nonzero().flatten()
                rows = {QUESTION: questions, CITING: texts}[relation.source]
                edges[graph.out_edges(rows, form="eid", etype=relation.forward_type)] = False
            if open_articles is not None:
                edges &= open_articles[graph.edges(etype=relation.forward_type)[1]]
            visible[relation] = edges
        return visible


def _sampled(
    heterograph: DGLGraph, nodes: Mapping[str, torch.Tensor], fanout: int
) -> tuple[DGLGraph, dict[str, torch.Tensor]]:
    """Return a DGL block of visible edges into some nodes, and the nodes that these come from, the targets first."""
    dgl = load_dgl()
    frontier = dgl.sampling.sample_neighbors(heterograph, nodes, fanout, prob=_VISIBLE)
    # DGL shuffles neighbours even where it keeps all: in the graph's own order, equal edges are equal blocks.
    in_order = {edge_type: frontier.edges[edge_type].data[dgl.EID].argsort() for edge_type in frontier.canonical_etypes}
    block = dgl.to_block(dgl.edge_subgraph(frontier, in_order, relabel_nodes=False, store_ids=False), dict(nodes))
    return block, {node_type: block.srcnodes[node_type].data[dgl.NID] for node_type in nodes}


def whole_graph_block(graph: LegalGraph) -> Block:
    """Return the block whose inputs and outputs are all nodes: inference uses it once a layer."""
    return _block(graph, graph.heterograph)


def _block(graph: LegalGraph, layer: DGLGraph) -> Block:
    """Return a DGL block, whose outputs come first among its inputs, or a whole graph, its types side by side in one
    numbering."""
    n_inputs, n_outputs = (
        [count(node_type) for node_type in graph.node_types] for count in (layer.num_src_nodes, layer.num_dst_nodes)
    )
    input_starts, output_starts = (
        dict(zip(graph.node_types, accumulate(counts, initial=0), strict=False)) for counts in (n_inputs, n_outputs)
    )
    parts = []
    for number, (source_type, name, target_type) in enumerate(graph.edge_types):
        sources, targets = layer.edges(etype=(source_type, name, target_type))
        sources, targets = sources + input_starts[source_type], targets + output_starts[target_type]
        parts.append((sources, targets, torch.full_like(sources, number)))
    own_inputs = [torch.arange(count) + start for count, start in zip(n_outputs, input_starts.values(), strict=True)]
    sources, targets, edge_types = map(torch.cat, zip(*parts, strict=True))
    return Block(sources, targets, edge_types, torch.cat(own_inputs), n_inputs=sum(n_inputs))
