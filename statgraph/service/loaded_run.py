"""What the service answers from: a run's retriever, its articles, and their table of contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.validity import ALWAYS, FOR_EVER, SINCE_EVER, asked_day
from statgraph.errors import UsageError
from statgraph.index.engines.contract import EngineAddress
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import Run
from statgraph.search.filters import ArticleFilter
from statgraph.search.hits import Explanation, Hit
from statgraph.search.retriever import Retriever
from statgraph.service.contents import ArticleOutline, Contents
from statgraph.service.surroundings import QuestionCitations, ReferenceIndex, Surroundings

MAX_EXAMPLES = 6
LONGEST_EXAMPLE = 120
_KEPT_LIMITS = 32  # readers browse: the same limits come many times


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
        contents: the table of contents of its articles.
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
        self.articles = ArticleStore(run)
        outlines = (ArticleOutline(article.article_id, article.title, article.path) for article in self.articles)
        self.contents = Contents(outlines)
        references = ReferenceIndex(self.contents, self.articles)
        self.surroundings = Surroundings(self.contents, references, QuestionCitations.load(run, self.contents))
        self._filter = ArticleFilter(self.contents.hierarchy)
        self._kept_rows = lru_cache(_KEPT_LIMITS)(self._rows)

    @property
    def examples(self) -> list[str]:
        """Return a few short training questions, spread over the list."""
        short = [
            question.text for question in self.surroundings.questions.questions if len(question.text) <= LONGEST_EXAMPLE
        ]
        return short[:: max(1, len(short) // MAX_EXAMPLES)][:MAX_EXAMPLES]

    @property
    def has_dates(self) -> bool:
        """Return whether any article says when it is in force."""
        return self.articles.days_in_force is not None

    def allowed_rows(
        self, *, codes: Sequence[str] = (), heading_id: str | None = None, as_of: str | None = None
    ) -> AllowedRows | None:
        """Return the rows of the articles in force on a day, today without one, that are in one of the codes
        and under the heading; None for all.

        Raises:
            UsageError: if there is no such code, heading or day.
        """
        heading: tuple[str, ...] = ()
        if heading_id is not None:
            row = self.contents.heading_rows.get(heading_id)
            if row is None:
                raise UsageError(f"heading '{heading_id}': no heading has this id; take one from /api/headings")
            heading = self.contents.headings[row]
        return self._kept_rows(tuple(codes), heading, asked_day(as_of or "today"))

    def search_many(self, questions: Sequence[str], k: int, *, among: AllowedRows | None = None) -> list[list[Hit]]:
        """Return the best `k` articles for each question, of the rows `among` only, whatever the day.

        Raises:
            UsageError: if a question is blank.
        """
        return self.retriever.search_many(questions, k, among=among, as_of=ALWAYS)

    def explain(self, question: str, hits: Sequence[Hit], *, among: AllowedRows | None = None) -> list[Explanation]:
        """Return why each of these hits was found for a question by `search_many` of the rows `among`.

        Raises:
            UsageError: as in `Retriever.explain`.
        """
        return self.retriever.explain(question, hits, among=among, as_of=ALWAYS)

    def warm_up(self, stopped: Callable[[], bool]) -> None:
        """Prepare what the first readers would wait for: references between articles, then what explanations need."""
        self.surroundings.references.build()
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

    def _rows(self, codes: tuple[str, ...], heading: tuple[str, ...], day: int | None) -> AllowedRows | None:
        chosen = self._filter.rows(codes=codes, heading=heading)
        in_force = None if day is None else self.articles.in_force(day)
        if chosen is None or in_force is None:
            return in_force if chosen is None else chosen
        return chosen & in_force
