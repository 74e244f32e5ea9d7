"""What an article is tied to: its headings, the articles beside it, references, training questions that cite it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from statgraph.corpus.citations.references import REFERS_TO, ragged_row
from statgraph.corpus.records import Question
from statgraph.graph.relations import ARTICLE, CITES, CONTAINS_ARTICLE, CONTAINS_HEADING, HEADING, QUESTION
from statgraph.runs.article_store import ArticleStore

MAX_NODES = 150

Node = tuple[str, int]  # (kind, row)
Edge = tuple[Node, Node, str]  # (source, target, relation)


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes with their distance, nearest first, the edges between them, and whether nodes were left out."""

    hops: dict[Node, int]
    edges: tuple[Edge, ...]
    cut: bool


class Surroundings:
    """The graph around each article, for drawing.

    Args:
        articles: the run's.
        article_rows: the row of each article id.
        questions: the training questions of the run; articles that they cite and that are gone are left out.
    """

    def __init__(self, articles: ArticleStore, article_rows: Mapping[str, int], questions: Sequence[Question]):
        self._articles = articles
        self.questions = questions
        self._cited = [
            [article_rows[article_id] for article_id in question.article_ids if article_id in article_rows]
            for question in questions
        ]
        self._citing: dict[int, list[int]] = {}
        for question_row, rows in enumerate(self._cited):
            for row in rows:
                self._citing.setdefault(row, []).append(question_row)

    def refers_to(self, article_row: int) -> list[int]:
        """Return the rows of the articles that an article names, in the order of its text."""
        return ragged_row(self._articles.structure.citations.refers_to, article_row)

    def referred_by(self, article_row: int) -> list[int]:
        """Return the rows of the articles that name an article, ascending."""
        return ragged_row(self._articles.structure.citations.referred_by, article_row)

    def neighbourhood(self, article_row: int, *, hops: int, most: int = MAX_NODES) -> Neighbourhood:
        """Return the nodes within `hops` edges of an article, at most `most` of them.

        Of equally near nodes the headings come first, then references, articles under one heading by distance from the
        article asked for, and questions.
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
        (kind, row), tree = node, self._articles.tree
        if kind == ARTICLE:
            yield (HEADING, int(tree.article_parents[row])), node, CONTAINS_ARTICLE.name
            yield from ((node, (ARTICLE, other), REFERS_TO) for other in self.refers_to(row))
            yield from (((ARTICLE, other), node, REFERS_TO) for other in self.referred_by(row))
            yield from (((QUESTION, question), node, CITES.name) for question in self._citing.get(row, ()))
        elif kind == HEADING:
            parent = tree.parent(row)
            if parent is not None:
                yield (HEADING, parent), node, CONTAINS_HEADING.name
            nearest = sorted(tree.child_articles[row], key=lambda article: abs(article - centre))
            yield from ((node, (ARTICLE, article), CONTAINS_ARTICLE.name) for article in nearest)
            yield from ((node, (HEADING, heading), CONTAINS_HEADING.name) for heading in tree.child_headings[row])
        else:
            yield from ((node, (ARTICLE, article), CITES.name) for article in self._cited[row])
