"""Build the graph of a corpus: the DGL heterograph and the names of its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from statgraph.config import GraphConfig
from statgraph.graph.dgl_loader import DGLGraph, load_dgl
from statgraph.graph.relations import (
    ARTICLE,
    CITING,
    HEADING,
    QUESTION,
    TRAIN_SPLIT,
    Edges,
    Relation,
    node_types_of,
    relations_of,
)
from statgraph.law.records import CitingText, Corpus, Heading
from statgraph.law.tree import tree_of

ITSELF = "itself"


def heterograph_of(edges: Mapping[Relation, Edges], node_counts: Mapping[str, int]) -> DGLGraph:
    """Return the DGL heterograph of relations, each with its reverse; an edge and its reverse have the same id. The
    reverse of a one-way relation has no edges.

    Args:
        edges: the rows that a relation joins, sources and targets, (edges,) each: whole numbers of any width.
        node_counts: number of nodes of each type.
    """
    import torch

    of_type: dict[tuple[str, str, str], Any] = {}
    for relation, rows in edges.items():
        ends = tuple(torch.from_numpy(np.ascontiguousarray(each, dtype=np.int64)) for each in rows)
        of_type[relation.forward_type] = ends
        of_type[relation.reverse_type] = ([], []) if relation.one_way else ends[::-1]
    # DGL's blocks lose the nodes of a type that no edge type names.
    touched = {node_type for relation in edges for node_type in (relation.source, relation.target)}
    of_type |= {(node_type, ITSELF, node_type): ([], []) for node_type in node_counts if node_type not in touched}
    return load_dgl().heterograph(of_type, num_nodes_dict=dict(node_counts))


DEFAULT_RELATIONS = GraphConfig().relations


@dataclass(frozen=True)
class LegalGraph:
    """The heterograph of a corpus and the names of its nodes.

    Node i of type `article` is `article_ids[i]`, the corpus's i-th article; of type `heading`, `headings[i]`; of type
    `question`, `question_ids[i]`, the i-th training question; of type `citing`, which only the relation group of that
    name brings, `citing[i]`. Questions of the other splits and their citing texts are never in the graph.
    """

    heterograph: DGLGraph
    article_ids: tuple[str, ...]
    headings: tuple[Heading, ...]
    question_ids: tuple[str, ...]
    relations: tuple[str, ...]
    corpus_hash: str
    citing: tuple[CitingText, ...] = ()

    @cached_property
    def edge_types(self) -> tuple[tuple[str, str, str], ...]:
        """Return the canonical edge types in a fixed order: the number of a type is its place here."""
        return tuple(sorted(self.heterograph.canonical_etypes))

    @cached_property
    def node_names(self) -> dict[str, tuple[object, ...]]:
        """Return by node type, in the order of `node_types_of`, what each node is known by: its id, or the heading."""
        names = {ARTICLE: self.article_ids, HEADING: self.headings, QUESTION: self.question_ids}
        names[CITING] = tuple(text.citing_id for text in self.citing)
        return {node_type: names[node_type] for node_type in node_types_of(self.relations)}

    @property
    def node_types(self) -> tuple[str, ...]:
        """Return the node types in the order in which their rows follow one another."""
        return tuple(self.node_names)

    @cached_property
    def node_counts(self) -> dict[str, int]:
        """Return the number of nodes of each type, in the order of `node_types`."""
        return {node_type: len(names) for node_type, names in self.node_names.items()}

    def ends(self, edge_type: tuple[str, str, str]) -> Edges:
        """Return the rows of the sources and of the targets of a type's edges, (edges,) int64 each."""
        sources, targets = self.heterograph.edges(etype=edge_type)
        return sources.numpy(), targets.numpy()


def build_graph(corpus: Corpus, relations: Sequence[str] = DEFAULT_RELATIONS) -> LegalGraph:
    """Return the graph of a corpus: its tree, its training questions, what else the named groups of relations join, and
    these relations with their reverses (QABISAR, section 2.2).

    Raises:
        UsageError: if a relation group is not known.
    """
    hierarchy = tree_of(corpus.articles)
    questions = corpus.split(TRAIN_SPLIT)
    edges = {relation: relation.edges(corpus, hierarchy) for relation in relations_of(tuple(relations))}
    counts = {ARTICLE: len(corpus.articles), HEADING: len(hierarchy.headings), QUESTION: len(questions)}
    citing = citing_nodes(corpus, relations)
    if CITING in node_types_of(relations):
        counts[CITING] = len(citing)
    return LegalGraph(
        heterograph=heterograph_of(edges, counts),
        article_ids=tuple(article.article_id for article in corpus.articles),
        headings=hierarchy.headings,
        question_ids=tuple(question.question_id for question in questions),
        relations=tuple(relations),
        corpus_hash=corpus.content_hash,
        citing=citing,
    )


def citing_nodes(corpus: Corpus, relations: Sequence[str]) -> tuple[CitingText, ...]:
    """Return the citing texts of a corpus that are nodes of its graph; none unless a relation group brings them."""
    return corpus.usable_citing() if CITING in node_types_of(relations) else ()


@dataclass(frozen=True)
class GraphSummary:
    """Counts for people: nodes by type, edges by relation, levels of headings, articles with no edge at all."""

    nodes: dict[str, int]
    edges: dict[str, int]
    headings_by_depth: dict[int, int]
    orphan_articles: int
    articles_cited: int


def summary_of(graph: LegalGraph) -> GraphSummary:
    """Return the counts of a graph."""
    degrees = np.zeros(graph.node_counts[ARTICLE], dtype=np.int64)
    cited = np.zeros_like(degrees)
    for edge_type in graph.edge_types:
        if edge_type[2] == ARTICLE:
            incoming = graph.heterograph.in_degrees(etype=edge_type).numpy()
            degrees += incoming
            if edge_type[0] == QUESTION:
                cited += incoming
    depths, counts = np.unique([heading.depth for heading in graph.headings], return_counts=True)
    return GraphSummary(
        nodes=graph.node_counts,
        edges={
            "-".join(edge_type): graph.heterograph.num_edges(edge_type)
            for edge_type in graph.edge_types
            if edge_type[1] != ITSELF
        },
        headings_by_depth={int(depth): int(count) for depth, count in zip(depths, counts, strict=True)},
        orphan_articles=int((degrees == 0).sum()),
        articles_cited=int((cited > 0).sum()),
    )
