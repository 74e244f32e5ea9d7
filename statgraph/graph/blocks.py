"""L-hop blocks: the part of the graph that a layer needs to compute its outputs, sampled by DGL on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from statgraph.errors import UsageError
from statgraph.graph.build import LegalGraph
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.relations import ARTICLE, CITES, NODE_TYPES, QUESTION
from statgraph.graph.threads import single_threaded

TARGET_EDGES = ("mask", "keep")
_VISIBLE = "visible"


@dataclass(frozen=True)
class Block:
    """One layer's edges between its input nodes and its output nodes, types side by side in one numbering.

    `sources` (edges,) are positions among the inputs, `targets` (edges,) among the outputs, `edge_types` (edges,)
    places in `LegalGraph.edge_types`; `own_inputs` (outputs,) is where each output node stands among the inputs.
    `derived` holds what layers have worked out from these and keep for the next time; a changed copy starts without.
    """

    sources: torch.Tensor
    targets: torch.Tensor
    edge_types: torch.Tensor
    own_inputs: torch.Tensor
    n_inputs: int
    derived: dict = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def n_outputs(self) -> int:
        """Return the number of output nodes."""
        return len(self.own_inputs)

    def to(self, device: torch.device) -> Block:
        """Return the same block on a device."""
        moved = {
            name: getattr(self, name).to(device, non_blocking=True)
            for name in ("sources", "targets", "edge_types", "own_inputs")
        }
        return replace(self, **moved)


@dataclass(frozen=True)
class Blocks:
    """The blocks of a batch, the layer next to the input first.

    `input_nodes` and `output_nodes` map a node type to its rows (int64); inputs and outputs are numbered type after
    type in the order of `NODE_TYPES`.
    """

    layers: tuple[Block, ...]
    input_nodes: Mapping[str, torch.Tensor]
    output_nodes: Mapping[str, torch.Tensor]


class BlockSampler:
    """Samples the blocks under a set of nodes.

    Args:
        graph: the whole graph.
        fanouts: neighbours kept per node and relation, one number a layer, the layer next to the input first; -1 keeps
            all.
        target_edges: `mask` hides the question-article edges of the batch's own questions, both ways, so that the
            network cannot read the answer off them; `keep` leaves them in.
        citation_dropout: chance, per article and batch, that all its question edges are hidden. It shows the network
            articles that no question cites, which are most of the law.

    Raises:
        UsageError: if a choice is not known or a number out of range.
    """

    def __init__(
        self, graph: LegalGraph, *, fanouts: Sequence[int], target_edges: str = "mask", citation_dropout: float = 0.0
    ):
        if target_edges not in TARGET_EDGES:
            raise UsageError(
                f"graph.target_edges: '{target_edges}' is not known; choose from {', '.join(TARGET_EDGES)}"
            )
        if not 0 <= citation_dropout <= 1:
            raise UsageError(f"gnn.citation_dropout: {citation_dropout} is no chance; give a number from 0 to 1")
        wrong = [fanout for fanout in fanouts if fanout < -1 or fanout == 0]
        if wrong:
            raise UsageError(f"gnn.fanout: {wrong[0]} is no number of neighbours; give -1 (all), or 1 or more")
        dgl = load_dgl()
        self._graph = graph
        self._heterograph = graph.heterograph.local_var()  # the sampler's own, to write on its edges which are visible
        self._sampler = dgl.dataloading.NeighborSampler(list(fanouts), mask=_VISIBLE)
        self._target_edges = target_edges
        self._citation_dropout = citation_dropout
        self._has_citations = CITES.forward_type in graph.edge_types
        if self._has_citations:
            _, self._cited_articles = graph.heterograph.edges(etype=CITES.forward_type)

    def sample(
        self,
        output_nodes: Mapping[str, torch.Tensor],
        *,
        target_questions: torch.Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Blocks:
        """Return the blocks under the output nodes (rows by node type, each row at most once).

        Args:
            target_questions: rows of the questions that the loss asks about; the output questions where not given.
            generator: source of the citation dropout's choices.
        """
        none = torch.empty(0, dtype=torch.int64)
        seeds = {node_type: output_nodes.get(node_type, none) for node_type in NODE_TYPES}
        if self._has_citations:
            asked = seeds[QUESTION] if target_questions is None else target_questions
            visible = self._visible_citations(asked, generator)
            for edge_type in (CITES.forward_type, CITES.reverse_type):
                self._heterograph.edges[edge_type].data[_VISIBLE] = visible
        with single_threaded():
            inputs, _, layers = self._sampler.sample_blocks(self._heterograph, seeds)
        return Blocks(
            layers=tuple(self._block(layer) for layer in layers),
            input_nodes={node_type: inputs[node_type] for node_type in NODE_TYPES},
            output_nodes={node_type: layers[-1].dstnodes[node_type].data["_ID"] for node_type in NODE_TYPES},
        )

    def _visible_citations(self, questions: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        """Return for each question-article edge whether it may be sampled, (edges,) bool.

        A citation and its reverse have the same id, so that one answer serves both. They are masked before the sampler
        draws: left out afterwards, as DGL's `exclude_eids` does, they would take the places of visible neighbours.
        """
        visible = torch.ones(len(self._cited_articles), dtype=torch.bool)
        if self._target_edges == "mask" and len(questions):
            visible[self._heterograph.out_edges(questions, form="eid", etype=CITES.forward_type)] = False
        if self._citation_dropout:
            draw = torch.rand(self._graph.node_count(ARTICLE), generator=generator)
            visible &= draw[self._cited_articles] >= self._citation_dropout
        return visible

    def _block(self, layer) -> Block:
        input_starts = _starts(layer.num_src_nodes)
        output_starts = _starts(layer.num_dst_nodes)
        sources, targets, types = [], [], []
        for number, edge_type in enumerate(self._graph.edge_types):
            source, target = layer.edges(etype=edge_type)
            sources.append(source + input_starts[edge_type[0]])
            targets.append(target + output_starts[edge_type[2]])
            types.append(torch.full_like(source, number))
        # DGL puts a block's output nodes first among the inputs of their type.
        own = [torch.arange(layer.num_dst_nodes(node_type)) + input_starts[node_type] for node_type in NODE_TYPES]
        return Block(torch.cat(sources), torch.cat(targets), torch.cat(types), torch.cat(own), layer.num_src_nodes())


def whole_graph_block(graph: LegalGraph) -> Block:
    """Return the block whose inputs and outputs are all nodes: inference uses it once a layer."""
    starts = _starts(graph.node_count)
    sources, targets, types = [], [], []
    for number, edge_type in enumerate(graph.edge_types):
        source, target = graph.heterograph.edges(etype=edge_type)
        sources.append(source + starts[edge_type[0]])
        targets.append(target + starts[edge_type[2]])
        types.append(torch.full_like(source, number))
    n_nodes = sum(graph.node_count(node_type) for node_type in NODE_TYPES)
    return Block(torch.cat(sources), torch.cat(targets), torch.cat(types), torch.arange(n_nodes), n_nodes)


def _starts(count_of) -> dict[str, int]:
    starts, at = {}, 0
    for node_type in NODE_TYPES:
        starts[node_type] = at
        at += count_of(node_type)
    return starts
