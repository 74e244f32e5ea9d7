"""What an article is tied to: its headings, the articles beside it, references, training questions that cite it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.citations.references import REFERS_TO, ReferenceFinder
from statgraph.corpus.records import Question
from statgraph.gnn.graph_inputs import read_graph_inputs
from statgraph.graph.relations import ARTICLE, CITES, CONTAINS_ARTICLE, CONTAINS_HEADING, HEADING, QUESTION
from statgraph.runs.article_store import ArticleStore
from statgraph.service.contents import Contents

MAX_NODES = 150

Node = tuple[str, int]  # (kind, row)
Edge = tuple[Node, Node, str]  # (source, target, relation)


class ReferenceIndex:
    """The references between articles, both ways. It reads every article once, on first use or in `build`; callers that
    come while it reads wait.

    Args:
        contents: the articles' titles and places.
        store: their texts.
    """

    def __init__(self, contents: Contents, store: ArticleStore):
        self._contents = contents
        self._store = store
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._to: dict[int, tuple[int, ...]] | None = None
        self._by: dict[int, list[int]] = {}

    def build(self) -> None:
        """Read the articles, unless that is done."""
        with self._lock:
            if self._to is not None:
                return
            outlines = self._contents.outlines
            finder = ReferenceFinder([outline.title for outline in outlines], [outline.path[0] for outline in outlines])
            to: dict[int, tuple[int, ...]] = {}
            for row, others in finder.references(() if self._stopped.is_set() else self._store):
                to[row] = others
                if self._stopped.is_set():
                    break
            self._by = _inverted(to)
            self._to = to

    def stop(self) -> None:
        """Read no further; the articles not read yet then refer to nothing."""
        self._stopped.set()

    def refers_to(self, article_row: int) -> tuple[int, ...]:
        """Return the rows of the articles that an article names, in the order of its text."""
        self.build()
        return self._to.get(article_row, ())

    def referred_by(self, article_row: int) -> tuple[int, ...]:
        """Return the rows of the articles that name an article, ascending."""
        self.build()
        return tuple(self._by.get(article_row, ()))


class QuestionCitations:
    """The training questions of a run by row, and the articles they cite; articles that are gone are left out."""

    def __init__(self, questions: Iterable[Question], contents: Contents):
        self.questions = tuple(questions)
        self._cites = {
            question_row: tuple(
                row for article_id in question.article_ids if (row := contents.article_rows.get(article_id)) is not None
            )
            for question_row, question in enumerate(self.questions)
        }
        self._cited_by = _inverted(self._cites)

    @classmethod
    def load(cls, run: Path, contents: Contents) -> QuestionCitations:
        """Return the questions that a run keeps: none where it has no graph, or is from before they were kept.

        Raises:
            RunError: if what it keeps is damaged.
        """
        folder = run / artifacts.RUN_GRAPH_INPUTS
        return cls(read_graph_inputs(folder).questions if folder.is_dir() else (), contents)

    def cites(self, question_row: int) -> tuple[int, ...]:
        """Return the rows of the articles that a question cites."""
        return self._cites[question_row]

    def citing(self, article_row: int) -> tuple[int, ...]:
        """Return the rows of the questions that cite an article."""
        return tuple(self._cited_by.get(article_row, ()))


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes with their distance, nearest first, the edges between them, and whether nodes were left out."""

    hops: dict[Node, int]
    edges: tuple[Edge, ...]
    cut: bool


@dataclass(frozen=True)
class Surroundings:
    """The graph around each article, for drawing."""

    contents: Contents
    references: ReferenceIndex
    questions: QuestionCitations

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
        kind, row = node
        if kind == ARTICLE:
            yield (HEADING, self.contents.heading_of_article(row)), node, CONTAINS_ARTICLE.name
            yield from ((node, (ARTICLE, other), REFERS_TO) for other in self.references.refers_to(row))
            yield from (((ARTICLE, other), node, REFERS_TO) for other in self.references.referred_by(row))
            yield from (((QUESTION, question), node, CITES.name) for question in self.questions.citing(row))
        elif kind == HEADING:
            parent = self.contents.parent(row)
            if parent is not None:
                yield (HEADING, parent), node, CONTAINS_HEADING.name
            nearest = sorted(self.contents.child_articles[row], key=lambda article: abs(article - centre))
            yield from ((node, (ARTICLE, article), CONTAINS_ARTICLE.name) for article in nearest)
            children = self.contents.child_headings(row)
            yield from ((node, (HEADING, heading), CONTAINS_HEADING.name) for heading in children)
        else:
            yield from ((node, (ARTICLE, article), CITES.name) for article in self.questions.cites(row))


def _inverted(targets: dict[int, tuple[int, ...]]) -> dict[int, list[int]]:
    """Return the sources of each target, in their order."""
    sources: dict[int, list[int]] = {}
    for source, rows in targets.items():
        for target in rows:
            sources.setdefault(target, []).append(source)
    return sources
