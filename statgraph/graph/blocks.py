"""L-hop blocks: the part of the graph that a layer needs to compute its outputs, sampled on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from statgraph.config import GnnConfig, GraphConfig
from statgraph.graph.build import LegalGraph
from statgraph.graph.fanouts import NeighbourDrawer
from statgraph.graph.incoming import EdgeType, incoming_edges
from statgraph.graph.neighbourhoods import LayerEdges, NeighbourhoodWalker, Visible
from statgraph.graph.relations import ARTICLE, CITES, CITING, CITING_CITES, QUESTION
from statgraph.settings import check_setting


@dataclass(frozen=True)
class Block:
    """One layer's edges between its input nodes and its output nodes, types side by side in one numbering.

    `sources` (edges,) are positions among the inputs, `targets` (edges,) among the outputs, `edge_types` (edges,)
    places in `LegalGraph.edge_types`; `own_inputs` (outputs,) is the position of each output node among the inputs.
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

    @property
    def keeps_all(self) -> bool:
        """Return whether the outputs are the inputs, in their order."""
        if "keeps all" not in self.derived:
            own = self.own_inputs
            self.derived["keeps all"] = len(own) == self.n_inputs and torch.equal(
                own, torch.arange(self.n_inputs, device=own.device)
            )
        return self.derived["keeps all"]

    def own(self, nodes: torch.Tensor) -> torch.Tensor:
        """Return the rows of the outputs, (outputs, ...), among those of the inputs, (inputs, ...); not a copy where
        the outputs are the inputs."""
        return nodes if self.keeps_all else nodes[self.own_inputs]

    def first_outputs(self, n_outputs: int) -> Block:
        """Return the block of the first output nodes alone, all inputs kept."""
        kept = self.targets < n_outputs
        return Block(
            self.sources[kept], self.targets[kept], self.edge_types[kept], self.own_inputs[:n_outputs], self.n_inputs
        )

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
    type in the order of `LegalGraph.node_types`.
    """

    layers: tuple[Block, ...]
    input_nodes: Mapping[str, torch.Tensor]
    output_nodes: Mapping[str, torch.Tensor]


# What readers say of articles: questions that are answered by them, texts that cite them.
_READERS = (CITES, CITING_CITES)
_READERS_OF = {edge_type: relation for relation in _READERS for edge_type in relation.edge_types}


class BlockSampler:
    """Samples the blocks under a set of nodes.

    Args:
        graph: the whole graph.
        fanouts: neighbours kept per node and relation, one number a layer, the layer next to the input first; -1 keeps
            all.
        target_edges: `mask` hides the edges between articles and the batch's own questions, both ways, so that the
            network cannot read the answer off them, and those of the citing texts that belong to these questions;
            `keep` leaves them in.
        citation_dropout: chance, per article and batch, that all its edges to questions and citing texts are hidden. It
            shows the network articles that no reader cites, which are most of the law.

    Raises:
        UsageError: if a choice is not known or a number out of range.
    """

    def __init__(
        self, graph: LegalGraph, *, fanouts: Sequence[int], target_edges: str = "mask", citation_dropout: float = 0.0
    ):
        check_setting(GraphConfig, "target_edges", target_edges, place="graph.target_edges")
        check_setting(GnnConfig, "citation_dropout", citation_dropout, place="gnn.citation_dropout")
        for fanout in fanouts:
            check_setting(GnnConfig, "fanout", fanout, place="gnn.fanout")
        self._edge_types = graph.edge_types
        self._node_counts = graph.node_counts
        self._target_edges = target_edges
        self._citation_dropout = citation_dropout
        self._has_citations = any(relation.forward_type in graph.edge_types for relation in _READERS)
        rows = {question_id: row for row, question_id in enumerate(graph.question_ids)}
        self._citing_questions = np.array([rows.get(text.question_id, -1) for text in graph.citing], dtype=np.int64)
        incoming = incoming_edges(graph.heterograph)
        if all(fanout == -1 for fanout in fanouts):
            self._source = NeighbourhoodWalker(incoming, self._node_counts, len(fanouts))
        else:
            self._source = NeighbourDrawer(incoming, self._node_counts, fanouts)

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
        seeds = {node_type: output_nodes.get(node_type, none) for node_type in self._node_counts}
        visible = self._visible(seeds[QUESTION] if target_questions is None else target_questions, generator)
        found = self._source.neighbourhood({node_type: rows.numpy() for node_type, rows in seeds.items()}, visible)
        return Blocks(
            layers=tuple(_block(self._edge_types, layer) for layer in found.layers),
            input_nodes={node_type: torch.from_numpy(found.nodes[node_type]) for node_type in self._node_counts},
            output_nodes=seeds,
        )

    def _visible(self, questions: torch.Tensor, generator: torch.Generator | None) -> Visible:
        """Return what tells which edges may be sampled: an edge and its reverse alike."""
        hidden = open_articles = None
        if self._has_citations and self._target_edges == "mask" and len(questions):
            asked = np.zeros(self._node_counts[QUESTION] + 1, dtype=bool)  # the last: of no question
            asked[questions.numpy()] = True
            hidden = {QUESTION: asked, CITING: asked[self._citing_questions]}
        if self._has_citations and self._citation_dropout:
            draw = torch.rand(self._node_counts[ARTICLE], generator=generator)
            open_articles = (draw >= self._citation_dropout).numpy()

        def visible(edge_type: EdgeType, sources: np.ndarray, targets: np.ndarray) -> np.ndarray | None:
            relation = _READERS_OF.get(edge_type)
            if relation is None or (hidden is None and open_articles is None):
                return None
            readers, articles = (sources, targets) if edge_type == relation.forward_type else (targets, sources)
            if hidden is None:
                return open_articles[articles]
            seen = ~hidden[relation.source][readers]
            return seen if open_articles is None else seen & open_articles[articles]

        return visible


def whole_graph_block(graph: LegalGraph) -> Block:
    """Return the block whose inputs and outputs are all nodes: inference uses it once a layer."""
    edges = {edge_type: graph.ends(edge_type) for edge_type in graph.edge_types}
    return _block(graph.edge_types, LayerEdges(graph.node_counts, graph.node_counts, edges))


def _block(edge_types: Sequence[EdgeType], layer: LayerEdges) -> Block:
    """Return a layer's edges with its node types in one numbering, and the edge types by their place."""
    input_starts, output_starts = _starts(layer.input_counts), _starts(layer.output_counts)
    n_edges = sum(len(sources) for sources, _ in layer.edges.values())
    sources, targets, types = (np.empty(n_edges, dtype=np.int64) for _ in range(3))
    end = 0
    for number, edge_type in enumerate(edge_types):
        of_type = slice(end, end := end + len(layer.edges[edge_type][0]))
        np.add(layer.edges[edge_type][0], input_starts[edge_type[0]], out=sources[of_type])
        np.add(layer.edges[edge_type][1], output_starts[edge_type[2]], out=targets[of_type])
        types[of_type] = number
    own_inputs = [np.arange(layer.output_counts[node_type]) + start for node_type, start in input_starts.items()]
    tensors = map(torch.from_numpy, (sources, targets, types, np.concatenate(own_inputs)))
    return Block(*tensors, n_inputs=sum(layer.input_counts.values()))


def _starts(node_counts: Mapping[str, int]) -> dict[str, int]:
    """Return where each node type begins in one numbering of all."""
    starts, at = {}, 0
    for node_type, count in node_counts.items():
        starts[node_type] = at
        at += count
    return starts
