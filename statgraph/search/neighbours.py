"""What the graph made of an article's vector, and which neighbours its last layer looked at."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from statgraph.encoders.article_text import PATH_SEPARATOR
from statgraph.graph.blocks import Blocks, BlockSampler
from statgraph.graph.relations import ARTICLE, CITES, HEADING, NODE_TYPES, QUESTION
from statgraph.runs.run import Run
from statgraph.search.article_store import StoredArticle
from statgraph.search.explanation import ITSELF, Neighbour
from statgraph.search.graph_run import enriched_article_vectors, load_graph_run

_NONE = torch.empty(0, dtype=torch.int64)
_Node = tuple[str, int]  # node type and row


@dataclass(frozen=True)
class GraphPart:
    """What the graph did for one article and one question.

    Attributes:
        score: of the article's vector behind the graph encoder.
        own_text_score: of its vector before: what the text encoder made of it.
        without_questions_score: behind the graph encoder, but with no edge of the training questions that cite it; None
            where none does, or where the layers need the whole graph.
        neighbours: the last layer's attention, heaviest first, the article itself among them; none where it has none.
    """

    score: float
    own_text_score: float
    without_questions_score: float | None
    neighbours: tuple[Neighbour, ...]


class GraphExplainer:
    """Runs the graph encoder again on the L-hop neighbourhood of an article, as inference did on the whole graph; safe
    to use from any thread.

    Raises:
        RunError: if the run has no graph, did not keep its graph's inputs, or is damaged.
    """

    def __init__(self, run: Run, articles: Sequence[StoredArticle]):
        loaded = load_graph_run(run)
        self._run = loaded
        self._titles = [article.title for article in articles]
        depth = len(loaded.encoder.layers)
        self._sampler = BlockSampler(loaded.graph, fanouts=[-1] * depth, target_edges="mask")
        self._sampling = threading.Lock()  # the sampler has one place to work in

    @property
    def article_ids(self) -> tuple[str, ...]:
        """Return the id of every article row."""
        return self._run.graph.article_ids

    @property
    def layer(self) -> str:
        """Return the name of the graph layer."""
        return self._run.config.gnn.layer

    @property
    def has_attention(self) -> bool:
        """Return whether the last layer weighs its neighbours by attention."""
        return hasattr(self._run.encoder.layers[-1], "attention_weights")

    def explain(self, query: np.ndarray, rows: Sequence[int]) -> list[GraphPart]:
        """Return what the graph did for the articles of these rows, each at most once.

        Args:
            query: (width,) float32, what the index was searched with.
            rows: article rows.
        """
        if not len(rows):
            return []
        with torch.inference_mode():
            blocks = self._blocks(rows, _NONE)
            enriched, neighbours = self._enriched(blocks), self._neighbours(blocks, len(rows))
            if self._run.encoder.needs_whole_graph:
                enriched = self._whole_graph_vectors[list(rows)]
            own = self._index_vectors(np.array(self._run.inputs.vectors[ARTICLE][list(rows)]))
            return [
                GraphPart(
                    float(enriched[place] @ query),
                    float(own[place] @ query),
                    self._without_questions(query, row, of_article),
                    of_article,
                )
                for place, (row, of_article) in enumerate(zip(rows, neighbours, strict=True))
            ]

    @cached_property
    def _whole_graph_vectors(self) -> np.ndarray:
        return enriched_article_vectors(self._run)

    @cached_property
    def _citing(self) -> dict[int, list[int]]:
        """Return the rows of the training questions that cite each article row."""
        rows = {article_id: row for row, article_id in enumerate(self.article_ids)}
        citing: dict[int, list[int]] = {}
        for question_row, question in enumerate(self._run.inputs.questions):
            for article_id in question.article_ids:
                citing.setdefault(rows[article_id], []).append(question_row)
        return citing

    def _without_questions(self, query: np.ndarray, row: int, neighbours: Sequence[Neighbour]) -> float | None:
        citing = self._citing.get(row) if CITES.forward_type in self._run.graph.edge_types else None
        if not citing or self._run.encoder.needs_whole_graph:
            return None
        return float(self._enriched(self._blocks([row], torch.tensor(citing)))[0] @ query)

    def _blocks(self, rows: Sequence[int], hidden_questions: torch.Tensor) -> Blocks:
        with self._sampling:
            return self._sampler.sample({ARTICLE: torch.tensor(list(rows))}, target_questions=hidden_questions)

    def _enriched(self, blocks: Blocks) -> np.ndarray:
        """Return the vectors of the blocks' output articles as the index holds them, (articles, width) float32."""
        return self._index_vectors(self._run.encoder(self._inputs(blocks), blocks.layers).float().numpy())

    def _index_vectors(self, vectors: np.ndarray) -> np.ndarray:
        return self._run.similarity.index_vectors(vectors)

    def _inputs(self, blocks: Blocks) -> torch.Tensor:
        """Return the text vectors of the blocks' input nodes, (inputs, width)."""
        vectors = self._run.inputs.vectors
        found = [vectors[node_type][blocks.input_nodes[node_type].numpy()] for node_type in NODE_TYPES]
        return torch.from_numpy(np.concatenate(found))

    def _neighbours(self, blocks: Blocks, n_articles: int) -> list[tuple[Neighbour, ...]]:
        """Return the attention of the last layer over each output article's neighbours and itself, heaviest first."""
        attention = self._run.encoder.last_attention(self._inputs(blocks), blocks.layers)
        if attention is None:
            return [()] * n_articles
        edge_weights, own_weights = (weights.float().numpy() for weights in attention)  # (edges or outputs, heads)
        nodes, last = _last_inputs(blocks), blocks.layers[-1]
        found = [
            [self._neighbour(nodes[own], ITSELF, own_weights[place])]
            for place, own in enumerate(last.own_inputs.tolist())
        ]
        edges = zip(last.sources.tolist(), last.targets.tolist(), last.edge_types.tolist(), edge_weights, strict=True)
        for source, target, edge_type, weights in edges:
            relation = self._run.graph.edge_types[edge_type][1]
            found[target].append(self._neighbour(nodes[source], relation, weights))
        return [tuple(sorted(of_article, key=lambda neighbour: -neighbour.weight)) for of_article in found]

    def _neighbour(self, node: _Node, relation: str, weights: np.ndarray) -> Neighbour:
        kind, row = node
        path: tuple[str, ...] = ()
        if kind == HEADING:
            path = self._run.graph.headings[row].path
            node_id, title = PATH_SEPARATOR.join(path), path[-1]
        elif kind == QUESTION:
            question = self._run.inputs.questions[row]
            node_id, title = question.question_id, question.text
        else:
            node_id, title = self.article_ids[row], self._titles[row]
        by_head = float(weights.mean()), float(weights.min()), float(weights.max())
        return Neighbour(kind, node_id, title, path, relation, *by_head)


def _last_inputs(blocks: Blocks) -> list[_Node]:
    """Return which nodes the inputs of the last block are."""
    nodes = [(node_type, row) for node_type in NODE_TYPES for row in blocks.input_nodes[node_type].tolist()]
    for block in blocks.layers[:-1]:
        nodes = [nodes[place] for place in block.own_inputs.tolist()]
    return nodes
