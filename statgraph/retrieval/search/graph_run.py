"""The graph of a finished run, its encoder over what it read in training, and what that made of an article's vector."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from statgraph.config import RunConfig
from statgraph.encoders.article_text import PATH_SEPARATOR, citing_text
from statgraph.encoders.similarity import Similarity, similarity_of
from statgraph.errors import RunError, damaged_run
from statgraph.graph.blocks import Blocks, BlockSampler, whole_graph_block
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.gnn.encoder import GraphEncoder, check_layers_of, read_graph_encoder
from statgraph.graph.gnn.graph_inputs import GraphInputs, read_graph_inputs
from statgraph.graph.relations import ARTICLE, CITES, CITING, HEADING, QUESTION
from statgraph.retrieval.search.hits import ITSELF, Neighbour
from statgraph.runs.own_corpus import own_corpus
from statgraph.runs.run import RunFolder

_NO_ROWS = torch.empty(0, dtype=torch.int64)
_Node = tuple[str, int]  # node type and row


@dataclass(frozen=True)
class GraphRun:
    """What made the vectors of a run's index.

    Attributes:
        config: the run's configuration.
        graph: of its articles, the training questions and, if it has any, the citing texts of `inputs`, whose node rows
            it has.
        inputs: the text vectors of all nodes.
        encoder: the graph encoder, ready for inference on the CPU.
    """

    config: RunConfig
    graph: LegalGraph
    inputs: GraphInputs
    encoder: GraphEncoder

    @property
    def similarity(self) -> Similarity:
        """Return what the vectors are compared by."""
        return similarity_of(self.config.encoder.similarity)


def load_graph_run(run: RunFolder) -> GraphRun:
    """Return the graph of a run, built again from its articles' paths and its training questions.

    Raises:
        RunError: if the run has no graph, did not keep its graph's inputs, names a layer that may not be imported, or
            is damaged.
    """
    config = run.config
    if not run.has_graph:
        raise RunError(
            f"{run.folder}: was trained without a graph (system '{config.system}'); name a run of qabisar or gdsr"
        )
    check_layers_of(run)
    inputs = read_graph_inputs(run.graph_inputs)
    corpus = replace(own_corpus(run), questions=inputs.questions, citing=inputs.citing)
    known = corpus.article_rows
    for what, readers in (("training questions", inputs.questions), ("citing texts", inputs.citing)):
        strange = next((cited for reader in readers for cited in reader.article_ids if cited not in known), "")
        if strange:
            raise damaged_run(f"{run.folder}: its {what} cite article '{strange}', which it does not hold")
    graph = replace(build_graph(corpus, config.graph.relations), corpus_hash=run.corpus.content_hash)
    for node_type, count in graph.node_counts.items():
        n_vectors = len(inputs.vectors.get(node_type, ()))
        if n_vectors != count:
            raise damaged_run(f"{run.graph_inputs}: {n_vectors} vectors of type {node_type} for {count} nodes")
    similarity = similarity_of(config.encoder.similarity)
    encoder = read_graph_encoder(
        run.graph_encoder,
        config.gnn,
        width=inputs.width,
        n_edge_types=len(graph.edge_types),
        unit_length=similarity.unit_length,
    )
    return GraphRun(config, graph, inputs, encoder)


def enriched_article_vectors(run: GraphRun) -> np.ndarray:
    """Return the graph-enriched vectors of all articles, one row an article, float32: those of the run's index."""
    rows = np.arange(run.graph.node_counts[ARTICLE])
    return run.similarity.index_vectors(enriched_articles(run.encoder, run.graph, run.inputs.vectors, rows))


def enriched_articles(
    encoder: GraphEncoder, graph: LegalGraph, vectors: Mapping[str, np.ndarray], rows: np.ndarray
) -> np.ndarray:
    """Return the graph encoder's vectors of some article rows, (rows, width) float32, from the text vectors of all
    nodes by type, (nodes, width) float32."""
    n_layers = len(encoder.layers)
    with torch.inference_mode():
        if len(rows) == graph.node_counts[ARTICLE]:
            blocks = [whole_graph_block(graph)] * n_layers
            enriched = encoder(_node_vectors(vectors), blocks)[: len(rows)]
        else:
            sampler = BlockSampler(graph, fanouts=[-1] * n_layers, target_edges="keep")
            sampled = sampler.sample({ARTICLE: torch.from_numpy(rows)})
            enriched = encoder(_node_vectors(vectors, sampled.input_nodes), sampled.layers)
        article_vectors: np.ndarray = enriched.float().numpy()
        return article_vectors


def _node_vectors(vectors: Mapping[str, np.ndarray], nodes: Mapping[str, torch.Tensor] | None = None) -> torch.Tensor:
    """Return the vectors of some rows of each node type, or of all, type after type, (nodes, width)."""
    if nodes is not None:
        vectors = {node_type: of_type[nodes[node_type].numpy()] for node_type, of_type in vectors.items()}
    return torch.from_numpy(np.concatenate(list(vectors.values())))


@dataclass(frozen=True)
class GraphPart:
    """What the graph did for one article and one question: fields of `statgraph.retrieval.search.hits.Explanation`."""

    score: float
    own_text_score: float
    without_questions_score: float | None
    neighbours: tuple[Neighbour, ...]


class GraphExplainer:
    """Runs the graph encoder again on the L-hop neighbourhood of an article, as inference did on the whole graph; safe
    to use from any thread.

    Attributes:
        article_ids: the id of every article row.
        layer: the name of the graph layer.
        has_attention: whether the last layer weighs its neighbours by attention.

    Raises:
        RunError: if the run has no graph, did not keep its graph's inputs, or is damaged.
    """

    def __init__(self, run: RunFolder):
        loaded = load_graph_run(run)
        self._run = loaded
        self._outlines = run.articles.outlines
        self.article_ids = loaded.graph.article_ids
        self.layer = loaded.config.gnn.layer
        self.has_attention = loaded.encoder.has_attention
        depth = len(loaded.encoder.layers)
        self._sampler = BlockSampler(loaded.graph, fanouts=[-1] * depth, target_edges="mask")
        self._explaining = threading.Lock()  # sampling on one thread changes the number of threads of the process

    def explain(self, query: np.ndarray, rows: list[int]) -> list[GraphPart]:
        """Return what the graph did for these article rows, one at least, each at most once; `query` is what the index
        was searched with, (width,) float32."""
        with self._explaining, torch.inference_mode():
            blocks = self._sampler.sample({ARTICLE: torch.tensor(rows)}, target_questions=_NO_ROWS)
            enriched = (
                self._whole_graph_vectors[rows] if self._run.encoder.needs_whole_graph else self._enriched(blocks)
            )
            own = self._run.similarity.index_vectors(np.array(self._run.inputs.vectors[ARTICLE][rows]))
            scores, own_scores = (enriched @ query).tolist(), (own @ query).tolist()
            without_questions = [self._without_questions(query, row) for row in rows]
            return list(map(GraphPart, scores, own_scores, without_questions, self._neighbours(blocks, len(rows))))

    @cached_property
    def _whole_graph_vectors(self) -> np.ndarray:
        return enriched_article_vectors(self._run)

    def _without_questions(self, query: np.ndarray, row: int) -> float | None:
        """Return an article's score where no training question that cites it is seen; None where none does."""
        graph = self._run.graph
        hidden = _NO_ROWS
        if CITES.forward_type in graph.edge_types:
            hidden = graph.heterograph.predecessors(row, etype=CITES.forward_type)
        if self._run.encoder.needs_whole_graph or not len(hidden):
            return None
        blocks = self._sampler.sample({ARTICLE: torch.tensor([row])}, target_questions=hidden)
        return float(self._enriched(blocks)[0] @ query)

    def _enriched(self, blocks: Blocks) -> np.ndarray:
        """Return the vectors of the blocks' output articles as the index holds them, (articles, width) float32."""
        nodes = _node_vectors(self._run.inputs.vectors, blocks.input_nodes)
        return self._run.similarity.index_vectors(self._run.encoder(nodes, blocks.layers).float().numpy())

    def _neighbours(self, blocks: Blocks, n_articles: int) -> list[tuple[Neighbour, ...]]:
        """Return the attention of the last layer over each output article's neighbours and itself, heaviest first."""
        inputs = _node_vectors(self._run.inputs.vectors, blocks.input_nodes)
        attention = self._run.encoder.last_attention(inputs, blocks.layers)
        if attention is None:
            return [()] * n_articles
        edge_weights, own_weights = (weights.float().numpy() for weights in attention)  # (edges or outputs, heads)
        nodes, last, edge_types = _last_inputs(blocks), blocks.layers[-1], self._run.graph.edge_types
        neighbours = [
            [self._neighbour(nodes[own], ITSELF, weights)]
            for own, weights in zip(last.own_inputs.tolist(), own_weights, strict=True)
        ]
        edges = zip(last.sources.tolist(), last.targets.tolist(), last.edge_types.tolist(), edge_weights, strict=True)
        for source, target, edge_type, weights in edges:
            neighbours[target].append(self._neighbour(nodes[source], edge_types[edge_type][1], weights))
        return [tuple(sorted(of_article, key=lambda neighbour: -neighbour.weight)) for of_article in neighbours]

    def _neighbour(self, node: _Node, relation: str, weights: np.ndarray) -> Neighbour:
        kind, row = node
        path: tuple[str, ...] = ()
        if kind == HEADING:
            path = self._run.graph.headings[row].path
            node_id, title = PATH_SEPARATOR.join(path), path[-1]
        elif kind == QUESTION:
            question = self._run.inputs.questions[row]
            node_id, title = question.question_id, question.text
        elif kind == CITING:
            text = self._run.graph.citing[row]
            node_id, title = text.citing_id, citing_text(text)
        else:
            node_id, title = self.article_ids[row], self._outlines[row].title
        by_head = float(weights.mean()), float(weights.min()), float(weights.max())
        return Neighbour(kind, node_id, title, path, relation, *by_head)


def _last_inputs(blocks: Blocks) -> list[_Node]:
    """Return which nodes the inputs of the last block are."""
    nodes = [(node_type, row) for node_type, rows in blocks.input_nodes.items() for row in rows.tolist()]
    for block in blocks.layers[:-1]:
        nodes = [nodes[place] for place in block.own_inputs.tolist()]
    return nodes
