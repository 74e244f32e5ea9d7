"""What the service answers from: a run's retriever, its articles, and their table of contents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.validity import ALWAYS, FOR_EVER, SINCE_EVER, asked_day
from statgraph.errors import UsageError
from statgraph.runs.manifest import read_run_manifest
from statgraph.search.article_store import ArticleStore, StoredArticle
from statgraph.search.explanation import Explanation
from statgraph.search.filters import ArticleFilter
from statgraph.search.retriever import Hit, Retriever
from statgraph.service.contents import ArticleOutline, Contents
from statgraph.service.surroundings import QuestionCitations, ReferenceIndex, Surroundings

MAX_EXAMPLES = 6
LONGEST_EXAMPLE = 120
_READ_AT_ONCE = 1024
_KEPT_LIMITS = 32  # readers browse: one limit is asked for many times


class LoadedRun:
    """A run, loaded; make it with `load`.

    Attributes:
        name: of the run folder.
        corpus: the name of the corpus that it was trained on.
        language: the ISO 639 code of that corpus.
        contents: the table of contents of its articles.
        surroundings: the graph around each article.
    """

    def __init__(
        self,
        name: str,
        corpus: Mapping[str, str],
        retriever: Retriever,
        store: ArticleStore,
        surroundings: Surroundings,
    ):
        self.name = name
        self.corpus = corpus["name"]
        self.language = corpus["language"]
        self.contents = surroundings.contents
        self.surroundings = surroundings
        self._filter = ArticleFilter(self.contents.hierarchy)
        self._limits = lru_cache(_KEPT_LIMITS)(self._limit)
        self._retriever = retriever
        self._store = store

    @classmethod
    def load(cls, run: Path, *, device: str = "auto", precision: str = "float32") -> LoadedRun:
        """Return the run in a folder.

        Raises:
            RunError: if the folder is not a finished run, or is damaged.
            UsageError: if the device or the precision is not available.
        """
        corpus = read_run_manifest(run)["corpus"]
        retriever, store = Retriever.load(run, device=device, precision=precision), ArticleStore(run)
        contents = Contents(_outlines(store))
        surroundings = Surroundings(contents, ReferenceIndex(contents, store), QuestionCitations.load(run, contents))
        return cls(run.resolve().name, corpus, retriever, store, surroundings)

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
        return self._store.days_in_force is not None

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
            row = self.contents.heading_row(heading_id)
            if row is None:
                raise UsageError(f"heading '{heading_id}': no heading has this id; take one from /api/headings")
            heading = self.contents.headings[row]
        return self._limits(tuple(codes), heading, asked_day(as_of or "today"))

    def search_many(self, questions: Sequence[str], k: int, *, among: AllowedRows | None = None) -> list[list[Hit]]:
        """Return the best `k` articles for each question, of the rows `among` only, whatever the day.

        Raises:
            UsageError: if a question is blank.
        """
        return self._retriever.search_many(questions, k, among=among, as_of=ALWAYS)

    def with_passages(self, question: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return the same hits, each with the passage that best matches the question."""
        return self._retriever.with_passages(question, hits)

    def explain(self, question: str, hits: Sequence[Hit]) -> list[Explanation]:
        """Return why each hit was found; before `warm_up` is done, that takes seconds."""
        return self._retriever.explain(question, hits)

    def warm_up(self, stopped: Callable[[], bool]) -> None:
        """Prepare what the first readers would wait for: references between articles, then what explanations need."""
        self.surroundings.references.build()
        if not stopped():
            self._retriever.prepare_explanations()

    def article(self, row: int) -> StoredArticle:
        """Return an article with its text."""
        return self._store.read([row])[0]

    def validity(self, row: int) -> tuple[str | None, str | None]:
        """Return (first day in force, first day after) of an article as ISO dates, None where there is none."""
        if self._store.days_in_force is None:
            return None, None
        first, after = self._store.days_in_force[row].tolist()
        return (
            None if first == SINCE_EVER else date.fromordinal(first).isoformat(),
            None if after == FOR_EVER else date.fromordinal(after).isoformat(),
        )

    def _limit(self, codes: tuple[str, ...], heading: tuple[str, ...], day: int | None) -> AllowedRows | None:
        chosen = self._filter.rows(codes=codes, heading=heading)
        in_force = None if day is None else self._store.in_force(day)
        if chosen is None or in_force is None:
            return in_force if chosen is None else chosen
        return chosen & in_force


def _outlines(store: ArticleStore) -> Iterator[ArticleOutline]:
    """Yield every article without its text, with a few texts in memory at a time."""
    for start in range(0, len(store), _READ_AT_ONCE):
        for article in store.read(range(start, min(start + _READ_AT_ONCE, len(store)))):
            yield ArticleOutline(article.article_id, article.title, article.path)
