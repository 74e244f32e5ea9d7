"""What the service answers from: a run's retriever, its articles and headings by their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from statgraph.corpus.validity import FOR_EVER, SINCE_EVER
from statgraph.errors import UsageError
from statgraph.gnn.graph_inputs import read_graph_inputs
from statgraph.index.engines.contract import EngineAddress
from statgraph.runs.run import Run
from statgraph.search.retriever import Retriever
from statgraph.service.surroundings import Surroundings

MAX_EXAMPLES = 6
LONGEST_EXAMPLE = 120
HEADING_ID_LENGTH = 12
_SEPARATOR = "\x1f"


def heading_id_of(path: Sequence[str]) -> str:
    """Return the id of a heading in addresses: 12 hex digits of the SHA-256 of its path."""
    return hashlib.sha256(_SEPARATOR.join(path).encode("utf-8")).hexdigest()[:HEADING_ID_LENGTH]


class LoadedRun:
    """A run in memory.

    Args:
        run: the run folder.
        device: `auto`, `cpu` or `cuda`.
        precision: of the query encoder, as in `Retriever.load`.
        engine: that has the run's vectors, as in `Retriever.load`.

    Attributes:
        name: of the run folder.
        corpus: the name of the corpus that it was trained on.
        language: the ISO 639 code of that corpus.
        retriever: the run's.
        articles: the texts of its articles.
        outlines: its articles without their texts, in row order.
        tree: the tree above them.
        article_rows: the row of each article id.
        heading_ids: the id in addresses of each heading of the tree.
        heading_rows: the row of each heading id.
        surroundings: the graph around each article.

    Raises:
        RunError: if the folder is not a finished run, or is damaged.
        EngineError: as in `Retriever.load`.
        UsageError: if the device or the precision is not available.
    """

    def __init__(
        self, run: Path, *, device: str = "auto", precision: str = "float32", engine: EngineAddress | None = None
    ):
        opened = Run.read(run)
        self.name = run.resolve().name
        self.corpus, self.language = opened.corpus.name, opened.corpus.language
        self.retriever = Retriever.of(opened, device=device, precision=precision, engine=engine)
        self.articles = self.retriever.articles
        self.outlines, self.tree = self.articles.outlines, self.articles.tree
        if self.articles.has_structure:
            self.articles.structure  # noqa: B018 -- read now: another process may put a new run in its place
        self.article_rows = {outline.article_id: row for row, outline in enumerate(self.outlines)}
        self.heading_ids = tuple(heading_id_of(heading.path) for heading in self.tree.headings)
        self.heading_rows = {heading_id: row for row, heading_id in enumerate(self.heading_ids)}
        kept = opened.graph_inputs  # none without a graph, or from before they were kept
        questions = read_graph_inputs(kept).questions if kept.is_dir() else ()
        self.surroundings = Surroundings(self.articles, self.article_rows, questions)

    def __len__(self) -> int:
        return len(self.outlines)

    @property
    def examples(self) -> list[str]:
        """Return a few short training questions, spread over the list."""
        short = [question.text for question in self.surroundings.questions if len(question.text) <= LONGEST_EXAMPLE]
        return short[:: max(1, len(short) // MAX_EXAMPLES)][:MAX_EXAMPLES]

    def heading_path(self, heading_id: str | None) -> tuple[str, ...]:
        """Return the path of the heading with an id; none for None.

        Raises:
            UsageError: if there is no such heading.
        """
        if heading_id is None:
            return ()
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
        self.articles.structure  # noqa: B018
        if not stopped():
            self.retriever.prepare_explanations()

    def validity(self, row: int) -> tuple[str | None, str | None]:
        """Return (first day in force, first day after) of an article as ISO dates, None where there is none."""
        if self.articles.days_in_force is None:
            return None, None
        first, after = self.articles.days_in_force[row].tolist()
        return (
            None if first == SINCE_EVER else date.fromordinal(first).isoformat(),
            None if after == FOR_EVER else date.fromordinal(after).isoformat(),
        )
