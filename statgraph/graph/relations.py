"""The typed relations of the graph: what they are called, what they join, and where their edges come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from statgraph.config import GraphConfig
from statgraph.law.citations.references import REFERS_TO, citations_among
from statgraph.law.records import Corpus
from statgraph.law.tree import Tree
from statgraph.settings import check_setting

ARTICLE, HEADING, QUESTION, CITING = "article", "heading", "question", "citing"
NODE_TYPES = (ARTICLE, HEADING, QUESTION)  # of every graph; a graph's own are `LegalGraph.node_types`
TRAIN_SPLIT = "train"

Edges = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Relation:
    """A relation and its reverse, each with a type of its own: `source -name-> target -reverse-> source`; of a relation
    that is `one_way` the reverse has no edges."""

    source: str
    name: str
    target: str
    reverse: str
    edges: Callable[[Corpus, Tree], Edges]
    one_way: bool = False

    @property
    def forward_type(self) -> tuple[str, str, str]:
        """Return DGL's canonical edge type."""
        return self.source, self.name, self.target

    @property
    def reverse_type(self) -> tuple[str, str, str]:
        """Return DGL's canonical edge type of the reverse."""
        return self.target, self.reverse, self.source

    @property
    def edge_types(self) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
        """Return both."""
        return self.forward_type, self.reverse_type


def _heading_contains_article(corpus: Corpus, hierarchy: Tree) -> Edges:
    return hierarchy.article_parents, np.arange(len(hierarchy.article_parents))


def _heading_contains_heading(corpus: Corpus, hierarchy: Tree) -> Edges:
    children = np.flatnonzero(hierarchy.heading_parents >= 0)
    return hierarchy.heading_parents[children], children


def _question_cites_article(corpus: Corpus, hierarchy: Tree) -> Edges:
    return _ragged_edges(corpus.label_rows(corpus.split(TRAIN_SPLIT)))


def _citing_cites_article(corpus: Corpus, hierarchy: Tree) -> Edges:
    rows = corpus.article_rows
    return _ragged_edges([[rows[article_id] for article_id in text.article_ids] for text in corpus.usable_citing()])


def _article_precedes_article(corpus: Corpus, hierarchy: Tree) -> Edges:
    parents = hierarchy.article_parents
    by_parent = np.argsort(parents, kind="stable")
    siblings = parents[by_parent][:-1] == parents[by_parent][1:]
    return by_parent[:-1][siblings], by_parent[1:][siblings]


def _article_refers_to_article(corpus: Corpus, hierarchy: Tree) -> Edges:
    return citations_among(corpus.articles).edges


def _ragged_edges(targets: Sequence[Sequence[int]]) -> Edges:
    """Return the edges of sources 0, 1, ... to the targets of each."""
    sources = np.repeat(np.arange(len(targets)), [len(rows) for rows in targets])
    return sources, np.array([row for rows in targets for row in rows], dtype=np.int64)


CONTAINS_ARTICLE = Relation(HEADING, "contains_article", ARTICLE, "in_heading", _heading_contains_article)
CONTAINS_HEADING = Relation(HEADING, "contains_heading", HEADING, "under_heading", _heading_contains_heading)
CITES = Relation(QUESTION, "cites", ARTICLE, "cited_by", _question_cites_article)
PRECEDES = Relation(ARTICLE, "precedes", ARTICLE, "follows", _article_precedes_article)
REFERENCES = Relation(ARTICLE, REFERS_TO, ARTICLE, "referred_to_by", _article_refers_to_article)
CITING_CITES = Relation(CITING, "cites", ARTICLE, "cited_by", _citing_cites_article)

# What `graph.relations` can name: a group of relations that are switched on together.
# A later group's edges replace those of the same types: `tree` has all of `tree-down`.
RELATION_GROUPS: dict[str, tuple[Relation, ...]] = {
    "tree-down": (replace(CONTAINS_ARTICLE, one_way=True), replace(CONTAINS_HEADING, one_way=True)),
    "tree": (CONTAINS_ARTICLE, CONTAINS_HEADING),
    "bipartite": (CITES,),
    "order": (PRECEDES,),
    "citations": (REFERENCES,),
    "citing": (CITING_CITES,),
}


def node_types_of(groups: Sequence[str]) -> tuple[str, ...]:
    """Return the node types of a graph with these relation groups, in the order of their rows: those of every graph,
    and those that a group brings."""
    ends = (end for relation in relations_of(tuple(groups)) for end in (relation.source, relation.target))
    return tuple(dict.fromkeys((*NODE_TYPES, *ends)))


def relations_of(groups: tuple[str, ...]) -> tuple[Relation, ...]:
    """Return the relations of the named groups, in the registry's order.

    Raises:
        UsageError: if a group is not known.
    """
    check_setting(GraphConfig, "relations", groups, place="graph.relations")
    return tuple(relation for group, members in RELATION_GROUPS.items() if group in groups for relation in members)
