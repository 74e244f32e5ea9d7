"""The graph of a finished run, and its encoder over what it read in training."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from statgraph.config import RunConfig
from statgraph.corpus.records import Article, Corpus
from statgraph.encoders.similarity import Similarity, similarity_of
from statgraph.errors import RunError
from statgraph.gnn.encoder import GraphEncoder
from statgraph.gnn.graph_inputs import REMEDY, GraphInputs, read_graph_inputs
from statgraph.gnn.saved_encoder import read_graph_encoder
from statgraph.graph.blocks import whole_graph_block
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.relations import ARTICLE, NODE_TYPES
from statgraph.runs.run import Run
from statgraph.search.article_store import ArticleStore


@dataclass(frozen=True)
class GraphRun:
    """What made the vectors of a run's index.

    Attributes:
        config: the run's configuration.
        corpus: its articles in row order (their `order` is their row) and its training questions.
        graph: the graph of that corpus; node rows are those of `inputs`.
        inputs: the text vectors of all nodes.
        encoder: the graph encoder, ready for inference on the CPU.
    """

    config: RunConfig
    corpus: Corpus
    graph: LegalGraph
    inputs: GraphInputs
    encoder: GraphEncoder

    @property
    def similarity(self) -> Similarity:
        """Return what the vectors are compared by."""
        return similarity_of(self.config.encoder.similarity)


def load_graph_run(run: Run) -> GraphRun:
    """Return the graph of a run, built again from its articles' paths and its training questions.

    Raises:
        RunError: if the run has no graph, did not keep its graph's inputs, or is damaged.
    """
    config = run.config
    if not run.has_graph:
        raise RunError(
            f"{run.folder}: was trained without a graph (system '{config.system}'); name a run of qabisar or gdsr"
        )
    inputs = read_graph_inputs(run.graph_inputs)
    corpus = Corpus(
        name=run.corpus.name,
        language=run.corpus.language,
        licence="",
        source="",
        articles=tuple(
            Article(stored.article_id, stored.title, stored.text, stored.path, row)
            for row, stored in enumerate(ArticleStore(run.folder).read_all())
        ),
        questions=inputs.questions,
    )
    known = corpus.article_rows
    strange = next((cited for question in inputs.questions for cited in question.article_ids if cited not in known), "")
    if strange:
        raise RunError(
            f"{run.folder}: its training questions cite article '{strange}', which it does not hold; {REMEDY}"
        )
    graph = replace(build_graph(corpus, config.graph.relations), corpus_hash=run.corpus.content_hash)
    for node_type in NODE_TYPES:
        if graph.node_count(node_type) != len(inputs.vectors[node_type]):
            raise RunError(
                f"{run.graph_inputs}: {len(inputs.vectors[node_type])} vectors of type {node_type} for "
                f"{graph.node_count(node_type)} nodes; {REMEDY}"
            )
    similarity = similarity_of(config.encoder.similarity)
    encoder = read_graph_encoder(
        run.graph_encoder,
        config.gnn,
        width=inputs.width,
        n_edge_types=len(graph.edge_types),
        unit_length=similarity.unit_length,
    )
    return GraphRun(config, corpus, graph, inputs, encoder)


def enriched_article_vectors(run: GraphRun) -> np.ndarray:
    """Return the graph-enriched vectors of all articles, one row an article, float32: those of the run's index."""
    nodes = torch.from_numpy(np.concatenate([run.inputs.vectors[node_type] for node_type in NODE_TYPES]))
    block = whole_graph_block(run.graph)
    with torch.inference_mode():
        enriched = run.encoder(nodes, [block] * len(run.encoder.layers))
    return run.similarity.index_vectors(enriched[: run.graph.node_count(ARTICLE)].float().numpy())
