"""What stands around an article, for drawing: headings, articles beside it, references, questions that cite it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from statgraph.graph.relations import ARTICLE, CITES, CONTAINS_ARTICLE, CONTAINS_HEADING, HEADING, QUESTION
from statgraph.service.contents import Contents
from statgraph.service.reference_index import ReferenceIndex
from statgraph.service.training_questions import TrainingQuestions

MAX_NODES = 150
REFERS_TO = "refers_to"

Node = tuple[str, int]  # (kind, row)
Edge = tuple[Node, Node, str]  # (source, target, relation)


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes with their distance, nearest first, the edges between them, and whether there was more."""

    hops: dict[Node, int]
    edges: tuple[Edge, ...]
    cut: bool


@dataclass(frozen=True)
class Surroundings:
    """Everything that an article is tied to."""

    contents: Contents
    references: ReferenceIndex
    questions: TrainingQuestions

    def neighbourhood(self, article_row: int, *, hops: int, most: int = MAX_NODES) -> Neighbourhood:
        """Return what stands within `hops` edges of an article, at most `most` nodes.

        Of equally near nodes the headings come first, then references, articles under one heading by how near they
        stand to the one asked for, and questions.
        """
        start: Node = (ARTICLE, article_row)
        found, waiting, cut = {start: 0}, deque([start]), False
        edges: dict[Edge, None] = {}
        while waiting:
            node = waiting.popleft()
            for edge in self._edges(node, article_row):
                source, target, _ = edge
                other = target if source == node else source
                if other not in found:
                    if found[node] == hops:
                        continue
                    if len(found) == most:
                        cut = True
                        continue
                    found[other] = found[node] + 1
                    waiting.append(other)
                edges[edge] = None
        return Neighbourhood(found, tuple(edges), cut)

    def _edges(self, node: Node, centre: int) -> Iterator[Edge]:
        """Yield every edge at a node."""
        kind, row = node
        yield from {ARTICLE: self._at_article, HEADING: self._at_heading, QUESTION: self._at_question}[kind](
            row, centre
        )

    def _at_article(self, row: int, centre: int) -> Iterator[Edge]:
        node = (ARTICLE, row)
        yield (HEADING, self.contents.heading_of_article(row)), node, CONTAINS_ARTICLE.name
        for other in self.references.refers_to(row):
            yield node, (ARTICLE, other), REFERS_TO
        for other in self.references.referred_by(row):
            yield (ARTICLE, other), node, REFERS_TO
        for question in self.questions.citing(row):
            yield (QUESTION, question), node, CITES.name

    def _at_heading(self, row: int, centre: int) -> Iterator[Edge]:
        node, parent = (HEADING, row), self.contents.parent(row)
        if parent is not None:
            yield (HEADING, parent), node, CONTAINS_HEADING.name
        for article in sorted(self.contents.child_articles(row), key=lambda article: abs(article - centre)):
            yield node, (ARTICLE, article), CONTAINS_ARTICLE.name
        for heading in self.contents.child_headings(row):
            yield node, (HEADING, heading), CONTAINS_HEADING.name

    def _at_question(self, row: int, centre: int) -> Iterator[Edge]:
        for article in self.questions.cites(row):
            yield (QUESTION, row), (ARTICLE, article), CITES.name
