"""What stands around an article, for drawing: headings, articles beside it, references, questions that cite it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from statgraph.graph.relations import ARTICLE, CONTAINS_ARTICLE, CONTAINS_HEADING, HEADING
from statgraph.service.contents import Contents

MAX_NODES = 150

Node = tuple[str, int]  # (kind, row)


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes with their distance, nearest first, the edges between them, and whether there was more."""

    hops: dict[Node, int]
    edges: tuple[tuple[Node, Node, str], ...]
    cut: bool


def neighbourhood(contents: Contents, article_row: int, *, hops: int, most: int = MAX_NODES) -> Neighbourhood:
    """Return what stands within `hops` edges of an article, at most `most` nodes.

    Articles under one heading come by how near they stand to the one asked for.
    """
    start: Node = (ARTICLE, article_row)
    found, waiting, cut = {start: 0}, deque([start]), False
    edges: dict[tuple[Node, Node, str], None] = {}
    while waiting:
        node = waiting.popleft()
        for source, target, relation in _edges(contents, node, article_row):
            other = target if source == node else source
            if other not in found:
                if found[node] == hops:
                    continue
                if len(found) == most:
                    cut = True
                    continue
                found[other] = found[node] + 1
                waiting.append(other)
            edges[source, target, relation] = None
    return Neighbourhood(found, tuple(edges), cut)


def _edges(contents: Contents, node: Node, centre: int) -> Iterator[tuple[Node, Node, str]]:
    """Yield (source, target, relation) of every edge at a node."""
    kind, row = node
    if kind == ARTICLE:
        yield (HEADING, contents.heading_of_article(row)), node, CONTAINS_ARTICLE.name
        return
    parent = contents.parent(row)
    if parent is not None:
        yield (HEADING, parent), node, CONTAINS_HEADING.name
    for article in sorted(contents.child_articles(row), key=lambda article: abs(article - centre)):
        yield node, (ARTICLE, article), CONTAINS_ARTICLE.name
    for heading in contents.child_headings(row):
        yield node, (HEADING, heading), CONTAINS_HEADING.name
