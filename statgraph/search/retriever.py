"""The retriever that people use: a run folder in, hits out."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.tree import tree_of
from statgraph.corpus.validity import ALWAYS, asked_day
from statgraph.errors import RunError, UsageError
from statgraph.index.engines.contract import EngineAddress
from statgraph.ranking.ensemble import Ensemble
from statgraph.runs.article_store import ARTICLES, ArticleStore
from statgraph.runs.hub import local_run
from statgraph.runs.run import Run
from statgraph.search.ensemble_explaining import EnsembleExplainer
from statgraph.search.ensemble_run import read_ensemble
from statgraph.search.explaining import Explainer
from statgraph.search.filters import ArticleFilter
from statgraph.search.hits import Explanation, Hit
from statgraph.search.passages import PassageFinder
from statgraph.search.ranker import DenseRanker, LexicalRanker, Ranker, lexical_index

_BACKGROUND = 256  # articles that tell rare words from common ones


class Retriever:
    """Answers questions with the articles of one run; make it with `load`."""

    def __init__(self, ranker: Ranker, articles: ArticleStore, run: Run | None = None):
        self._ranker = ranker
        self._articles = articles
        self._run = run
        self._passages = PassageFinder(run.corpus.language if run else "", self._background)
        self._explainer: Explainer | EnsembleExplainer | None = None
        self._explainer_lock = threading.Lock()
        self._filter: ArticleFilter | None = None
        self._filter_lock = threading.Lock()

    @classmethod
    def load(
        cls,
        run: Path | str,
        *,
        device: str = "auto",
        precision: str = "float32",
        engine: EngineAddress | None = None,
    ) -> Retriever:
        """Return the retriever in a run folder.

        Args:
            run: the folder, or `hf://OWNER/NAME` of the Hugging Face hub, with @REVISION or without.
            device: `auto`, `cpu` or `cuda`.
            precision: what a transformer's layers compute in, as in `read_query_encoder`.
            engine: that `statgraph index --engine NAME --to URI` has written the vectors to; None for the run's index.

        Raises:
            RunError: if the folder is not a finished run, is damaged, or has no vectors for an engine; if the
                hub cannot be reached.
            EngineError: if the engine cannot be reached, or does not have the run's vectors.
            UsageError: if the address of the hub is none, or the device or the precision is unknown or not available.
            ModelError: if the graph beside the query encoder is damaged, or does not fit its weights.
            DependencyError: if onnxruntime is missing, and int8 was asked for.
        """
        return cls.of(Run.read(local_run(run)), device=device, precision=precision, engine=engine)

    @classmethod
    def of(
        cls, run: Run, *, device: str = "auto", precision: str = "float32", engine: EngineAddress | None = None
    ) -> Retriever:
        """Return the retriever of a run whose training is done, its manifest written or not; the rest as in `load`."""
        articles = ArticleStore(run.folder)
        if engine is not None:
            run.require_vectors("search it without --engine")
        if run.config.is_ensemble:
            return cls(read_ensemble(run, len(articles), device=device, precision=precision), articles, run)
        if not run.has_vectors:
            return cls(LexicalRanker(lexical_index(run, articles)), articles, run)
        ranker = DenseRanker(run, device=device, precision=precision, engine=engine)
        if not _same_articles(ranker.article_ids, articles):
            raise RunError(f"{run.folder}: its index and its {ARTICLES} hold different articles; train the run again")
        return cls(ranker, articles, run)

    def search(
        self,
        question: str,
        k: int = 10,
        *,
        among: np.ndarray | AllowedRows | None = None,
        codes: Sequence[str] = (),
        heading: Sequence[str] = (),
        as_of: str | date = "today",
        passages: bool = False,
    ) -> list[Hit]:
        """Return the best `k` articles for a question (all of them where there are fewer).

        A BM25 run finds only articles that share a word with the question, so there may be fewer, or none.

        Args:
            question: a text.
            k: how many.
            among: the article rows to search, (rows,) whole numbers in any order or `AllowedRows`; None is all.
            codes: titles of the codes to search; none for all.
            heading: the path of the heading to search under, its titles from the code down; none for all.
            as_of: the day whose law is searched, where the corpus says when its articles are in force: a date, ISO
                text, `today`, or `always` for all of them. An article without dates is always in force.
            passages: whether to find each hit's `passage`: a few milliseconds for ten hits.

        Raises:
            UsageError: if the question is blank or not text, `k` is below 1, `among` holds anything but article rows,
                a code or the heading is unknown, or `as_of` is not a date.
        """
        limits = {"among": among, "codes": codes, "heading": heading, "as_of": as_of}
        return self.search_many([question], k, **limits, passages=passages)[0]

    def search_many(
        self,
        questions: Sequence[str],
        k: int = 10,
        *,
        among: np.ndarray | AllowedRows | None = None,
        codes: Sequence[str] = (),
        heading: Sequence[str] = (),
        as_of: str | date = "today",
        passages: bool = False,
    ) -> list[list[Hit]]:
        """Return the hits of each question, as `search` does, in one pass through the encoder and the index.

        Raises:
            UsageError: as in `search`.
        """
        ranked = self.found(questions, k, among=self.among(codes, heading, among), as_of=as_of)
        hits = [self._hits(rows, scores) for rows, scores in zip(*ranked, strict=True)]
        if passages:
            hits = [self.with_passages(*of_question) for of_question in zip(questions, hits, strict=True)]
        return hits

    def among(
        self,
        codes: Sequence[str] = (),
        heading: Sequence[str] = (),
        rows: np.ndarray | AllowedRows | None = None,
    ) -> np.ndarray | AllowedRows | None:
        """Return the article rows in one of the codes and under the heading, of `rows` only; None for all articles.

        The first call that names a code or a heading reads where every article stands.

        Raises:
            UsageError: as in `search`.
        """
        if not codes and not heading:
            return rows
        with self._filter_lock:
            if self._filter is None:
                self._filter = ArticleFilter(tree_of(tuple(self._articles.read_all())))
        chosen = self._filter.rows(codes=codes, heading=heading)
        if rows is not None and not isinstance(rows, AllowedRows):
            rows = AllowedRows.checked(rows, len(self._articles))
        return chosen & rows

    def with_passages(self, question: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return the same hits, each with its `passage`."""
        passages = self._passages.passages(question, [hit.text for hit in hits])
        return [replace(hit, passage=passage) for hit, passage in zip(hits, passages, strict=True)]

    def explain(
        self,
        question: str,
        hits: Sequence[Hit],
        *,
        among: np.ndarray | AllowedRows | None = None,
        as_of: str | date = "today",
    ) -> list[Explanation]:
        """Return why each of these hits was found for a question, in their order; each at most once.

        The first call reads the graph and counts the articles' words: seconds, for tens of thousands of articles.

        Args:
            question: what the search was asked.
            hits: what it found.
            among: the rows that it searched: an ensemble's scores depend on them.
            as_of: the day whose law it searched.

        Raises:
            UsageError: as in `search`, and if a hit is not an article of the run.
        """
        _check_question(question)
        return self._ready_explainer().explain(question, hits, self._allowed(among, as_of))

    def prepare_explanations(self) -> None:
        """Do what the first `explain` would do, so that it answers as fast as the next; nothing if it was done."""
        if self._explainer is None:
            hits = self._hits(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.float32))
            self._ready_explainer().explain(hits[0].title, hits)

    def _ready_explainer(self) -> Explainer | EnsembleExplainer:
        with self._explainer_lock:
            if self._explainer is None:
                if self._run is None:
                    raise UsageError("this retriever was not loaded from a run; make it with Retriever.load")
                if isinstance(self._ranker, Ensemble):
                    self._explainer = EnsembleExplainer(self._ranker, self._articles)
                else:
                    self._explainer = Explainer(self._run, self._ranker, self._articles)
            return self._explainer

    def rank(
        self,
        questions: Sequence[str],
        k: int,
        *,
        among: np.ndarray | AllowedRows | None = None,
        as_of: str | date = ALWAYS,
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each question (article rows int64, scores float32), best first; the rest as in `search`, but that
        without a day all articles are ranked, so that what is measured does not change from day to day.

        Raises:
            UsageError: as in `search`.
        """
        if k < 1:
            raise UsageError(f"k is {k}; ask for at least 1 hit")
        for question in questions:
            _check_question(question)
        allowed = self._allowed(among, as_of)
        return self._ranker.rank(questions, k, allowed) if questions else ([], [])

    def _allowed(self, among: np.ndarray | AllowedRows | None, as_of: str | date) -> AllowedRows | None:
        day = asked_day(as_of)
        in_force = None if day is None else self._articles.in_force(day)
        if among is None:
            return in_force
        if not isinstance(among, AllowedRows):
            among = AllowedRows.checked(among, len(self._articles))
        return among & in_force

    def found(
        self,
        questions: Sequence[str],
        k: int,
        *,
        among: np.ndarray | AllowedRows | None = None,
        as_of: str | date = "today",
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the rows and scores of each question's hits in `search`: those of `rank` less what BM25 gives 0.

        Raises:
            UsageError: as in `search`.
        """
        rows, scores = self.rank(questions, k, among=among, as_of=as_of)
        if not isinstance(self._ranker, LexicalRanker):
            return rows, scores
        shared = [of_question > 0 for of_question in scores]
        return (
            [of_question[some] for of_question, some in zip(rows, shared, strict=True)],
            [of_question[some] for of_question, some in zip(scores, shared, strict=True)],
        )

    @property
    def by_words(self) -> bool:
        """Return whether articles are found by the words that they share with a question alone."""
        without_vectors = (
            self._run is not None and self._run.config.is_ensemble and not self._run.config.ensemble.members
        )
        return without_vectors or isinstance(self._ranker, LexicalRanker)

    @property
    def has_dates(self) -> bool:
        """Return whether any article says when it is in force."""
        return self._articles.days_in_force is not None

    def article_ids(self) -> tuple[str, ...]:
        """Return the id of every article row."""
        return tuple(article.article_id for article in self._articles.read_all())

    def _background(self) -> list[str]:
        """Return a few hundred texts from all over the law."""
        n_articles = len(self._articles)
        return [
            article.text for article in self._articles.read(range(0, n_articles, math.ceil(n_articles / _BACKGROUND)))
        ]

    def _hits(self, rows: np.ndarray, scores: np.ndarray) -> list[Hit]:
        return [
            Hit(rank, float(score), article.article_id, article.title, article.path, article.text)
            for rank, (score, article) in enumerate(zip(scores, self._articles.read(rows), strict=True), start=1)
        ]


def _same_articles(index_ids: Sequence[str], articles: ArticleStore) -> bool:
    """Return whether an index fits the stored articles by number and by its first and last: reading all takes long."""
    if len(index_ids) != len(articles):
        return False
    return [index_ids[0], index_ids[-1]] == [article.article_id for article in articles.read([0, len(articles) - 1])]


def _check_question(question: str) -> None:
    if not question.strip():
        raise UsageError("the question is blank; ask something")
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the question: character {error.start + 1} is half a character (a byte that is not UTF-8, or a lone "
            "surrogate); type it again in UTF-8"
        ) from None
