"""What the service answers from: a run's retriever, its articles and headings by their ids, the graph around each
article."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

import numpy as np

from statgraph.errors import UsageError, option
from statgraph.graph.gnn.graph_inputs import read_graph_inputs
from statgraph.graph.relations import ARTICLE, CITES, CONTAINS_ARTICLE, CONTAINS_HEADING, HEADING, QUESTION
from statgraph.law.citations.references import REFERS_TO, ReferenceFinder, ragged_row
from statgraph.law.query import Query
from statgraph.law.records import Question
from statgraph.law.titles import number_or_title
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder

MAX_EXAMPLES = 6
LONGEST_EXAMPLE = 120
HEADING_ID_LENGTH = 12
_SEPARATOR = "\x1f"
MAX_NODES = 150
_TRIED = 24  # rubrics and headings as examples
_NUMBERED = re.compile(r"^(?:[\w-]+\s+)?(?:\d+\w?|[IVXLC]+)\s*[.:–—-]?\s+")

Node = tuple[str, int]  # (kind, row)
Edge = tuple[Node, Node, str]  # (source, target, relation)


def heading_id_of(path: Sequence[str]) -> str:
    """Return the id of a heading in addresses: 12 hex digits of the SHA-256 of its path."""
    return hashlib.sha256(_SEPARATOR.join(path).encode("utf-8")).hexdigest()[:HEADING_ID_LENGTH]


def law_names(runs: Iterable[Path]) -> list[str]:
    """Return what to call the law of each run: its corpus, or its folder where a run before it is called so.

    Raises:
        RunError: if a folder is not a finished run.
        UsageError: if that leaves two of the same name.
    """
    names: list[str] = []
    for run in runs:
        name = RunFolder.read(run).corpus.name
        if name in names:
            name = run.absolute().name
        if name in names:
            raise UsageError(f"{option('run')} {run}: another law is called '{name}' already; rename this folder")
        names.append(name)
    return names


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes with their distance, nearest first, the edges between them, and whether nodes were left out."""

    hops: dict[Node, int]
    edges: tuple[Edge, ...]
    cut: bool


class ArticleGraph:
    """The graph around each article, for drawing; what the training questions cite and is gone is left out."""

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


def _without_number(heading: str) -> str:
    """Return "Security" of "Section 2. Security"."""
    return _NUMBERED.sub("", heading).rstrip(".")


def _tells_a_topic(title: str) -> bool:
    words = len(title.split())
    return 2 <= words <= 12 and len(title) <= LONGEST_EXAMPLE and not title.isupper() and not re.search(r"\d", title)


def _spread(values: Sequence[str], most: int) -> list[str]:
    return list(values[:: max(1, len(values) // most)][:most])


class LoadedRun:
    """A run in memory.

    The arguments and errors are those of `Retriever.load`; `run` is a folder.

    Attributes:
        folder: of the run, and its name; `corpus` and `language` are those of the law.
        articles: the texts of the articles; `outlines` are the articles without them, in row order.
        tree: the headings above them.
        article_rows: the row of each article id.
        heading_ids: the id in addresses of each heading of the tree; `heading_rows` leads back.
        graph: the graph around each article.
    """

    def __init__(self, run: Path, **how: Any):
        opened = RunFolder.read(run)
        self.folder, self.name = run, run.resolve().name
        self.corpus, self.language = opened.corpus.name, opened.corpus.language
        self.retriever = Retriever.of(opened, **how)
        self.articles = self.retriever.articles
        self.outlines, self.tree = self.articles.outlines, self.articles.tree
        self.articles.structure  # noqa: B018 -- read now: another process may put a new run in its place
        self.article_rows = {outline.article_id: row for row, outline in enumerate(self.outlines)}
        self.heading_ids = tuple(heading_id_of(heading.path) for heading in self.tree.headings)
        self.heading_rows = {heading_id: row for row, heading_id in enumerate(self.heading_ids)}
        # None without a graph; all members of an ensemble have the same questions.
        inputs = [opened.graph_inputs, *sorted(opened.members.glob(f"*/{opened.graph_inputs.name}"))]
        kept = next((folder for folder in inputs if folder.is_dir()), None)
        questions = () if kept is None else read_graph_inputs(kept).questions
        self.graph = ArticleGraph(self.articles, self.article_rows, questions)

    def __len__(self) -> int:
        return len(self.outlines)

    @cached_property
    def examples(self) -> list[str]:
        """Return a few short questions, spread over the law: training questions; without any, rubrics and headings, of
        those that a search finds an article for which stands under them."""
        short = [question.text for question in self.graph.questions if len(question.text) <= LONGEST_EXAMPLE]
        if short:
            return _spread(short, MAX_EXAMPLES)
        rubrics = [outline.rubric for outline in self.outlines]
        headings = [_without_number(heading.title) for heading in self.tree.headings if heading.depth > 1]
        titles = dict.fromkeys(filter(_tells_a_topic, rubrics))
        if len(titles) < _TRIED:
            titles |= dict.fromkeys(filter(_tells_a_topic, headings))
        tried = _spread(list(titles), _TRIED)
        found = zip(tried, self.retriever.search_many(tried, 1), strict=True) if tried else ()
        good = [
            title
            for title, hits in found
            if any(title in (hit.rubric, *map(_without_number, hit.path)) for hit in hits)
        ]
        return _spread(good, MAX_EXAMPLES)

    def mentions(self, row: int, text: str) -> list[tuple[int, int, int]]:
        """Return (start, end, article row) of the articles that an article names in its text, in the version in force
        today if there is one; none of a text that is not in NFC, whose characters have other places."""
        if not is_normalized("NFC", text):
            return []
        in_force = self.retriever.allowed(Query("?", 1))
        found = []
        for start, end, other in self._references.places(text, self.outlines[row].path[0]):
            versions = self.versions(other)
            if row not in versions:
                current = (version for version in versions if in_force is None or in_force.mask[version])
                found.append((start, end, next(current, other)))
        return found

    def versions(self, row: int) -> list[int]:
        """Return the rows of an article's versions by their dates: those of its number in its code, itself included."""
        return self._by_number[self._number_key(row)] if self.retriever.has_dates else [row]

    def _number_key(self, row: int) -> tuple[str, str]:
        return self.outlines[row].path[0], number_or_title(self.outlines[row])

    @cached_property
    def _by_number(self) -> dict[tuple[str, str], list[int]]:
        rows: dict[tuple[str, str], list[int]] = {}
        for row in sorted(range(len(self)), key=lambda row: self.articles.validity(row)[0] or ""):
            rows.setdefault(self._number_key(row), []).append(row)
        return rows

    @cached_property
    def _references(self) -> ReferenceFinder:
        return ReferenceFinder(list(map(number_or_title, self.outlines)), [of.path[0] for of in self.outlines])

    def in_force_below(self, as_of: str) -> list[int]:
        """Return how many articles under each heading a search for the law of a day ranks."""
        allowed = self.retriever.allowed(Query("?", 1, as_of=as_of))
        if allowed is None:
            return self.tree.articles_below
        counts = np.bincount(self.tree.article_parents[allowed.rows], minlength=len(self.tree.headings))
        return self.tree.sums_below(counts.tolist())

    def heading_path(self, heading_id: str) -> tuple[str, ...]:
        """Return the path of the heading with an id.

        Raises:
            UsageError: if there is no such heading.
        """
        row = self.heading_rows.get(heading_id)
        if row is None:
            raise UsageError(f"heading '{heading_id}': no heading has this id; take one from /api/headings")
        return self.tree.headings[row].path

    def beside(self, article_row: int) -> tuple[int | None, int | None]:
        """Return the rows of the articles before and after one in its code, None at the ends."""
        code = self.outlines[article_row].path[0]
        before, after = (
            row if 0 <= row < len(self) and self.outlines[row].path[0] == code else None
            for row in (article_row - 1, article_row + 1)
        )
        return before, after

    def warm_up(self, stopped: Callable[[], bool]) -> None:
        """Prepare what the first readers would wait for: the law's structure where the run has not saved it, then what
        explanations need."""
        self.articles.structure, self.examples, self._references  # noqa: B018
        if not stopped():
            self.retriever.prepare_explanations()
