"""The retriever that people use: a run folder in, hits out."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.errors import RewritingError, Text, UsageError, option
from statgraph.law.allowed_rows import AllowedRows, placed_rows
from statgraph.law.citations.named_articles import HAS_NUMBER
from statgraph.law.query import LIMITS, Query, Ranked, known_probabilities, queries_of
from statgraph.law.validity import ALWAYS
from statgraph.retrieval.index.engines.contract import EngineAddress
from statgraph.retrieval.search.explaining import Explainer
from statgraph.retrieval.search.hits import Explanation, Hit
from statgraph.retrieval.search.passages import PassageFinder
from statgraph.retrieval.search.ranker import Ranker, sentence_encoder, text_index
from statgraph.retrieval.signals.signal import SignalInfo
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.hub import local_run
from statgraph.runs.run import RunFolder

if TYPE_CHECKING:  # it loads what speaks HTTP
    from statgraph.retrieval.search.rewriting import Rewriter

_BACKGROUND = 256  # articles that show which words are rare
_KEPT_LIMITS = 32  # readers browse: the same limits come many times


class Retriever:
    """Answers questions with the articles of one run; make it with `load`."""

    def __init__(self, ranker: Ranker, articles: ArticleStore, run: RunFolder | None = None):
        self._ranker = ranker
        self.articles = articles
        self._run = run
        self._explainer: Explainer | None = None
        self._explainer_lock = threading.Lock()
        self._rows_of = lru_cache(_KEPT_LIMITS)(self._rows_within)

    @classmethod
    def load(
        cls,
        run: Path | str,
        *,
        device: str = "auto",
        engine: EngineAddress | None = None,
        reader: str | None = None,
    ) -> Retriever:
        """Return the retriever in a run folder.

        Args:
            run: the folder, or `hf://OWNER/NAME` of the Hugging Face hub, with @REVISION or without.
            device: `auto`, `cpu` or `cuda`.
            engine: that `statgraph index --engine NAME --to URI` has written the vectors to; None for the run's index.
            reader: a cross-encoder in place of the ensemble's (`ranker.reader`): its folder or hub name; "" for none,
                None for its own.

        Raises:
            RunError: if the folder is not a finished run, is damaged, or has no vectors for an engine; if the
                hub cannot be reached.
            EngineError: if the engine cannot be reached, or does not have the run's vectors.
            UsageError: if the hub's address is invalid, or the device is unknown or not available.
            ModelError: if the graph beside the query encoder is damaged, or does not fit its weights.
        """
        return cls.of(RunFolder.read(local_run(run)), device=device, engine=engine, reader=reader)

    @classmethod
    def of(
        cls,
        run: RunFolder,
        *,
        device: str = "auto",
        engine: EngineAddress | None = None,
        reader: str | None = None,
    ) -> Retriever:
        """Return the retriever of a run whose training is done, its manifest written or not; the rest as in `load`."""
        if reader and not run.kind.has_members:
            raise UsageError(f"{option('reader')} {reader}: {run.folder} is no ensemble, which alone has a reader")
        if reader is not None:
            run = replace(run, config=replace(run.config, ranker=replace(run.config.ranker, reader=reader)))
        if engine is not None:
            run.require_vectors(f"search it without {option('engine')}")
        ranker: Ranker = run.kind.ranker(run, device, engine)
        return cls(ranker, run.articles, run)

    @property
    def by_words(self) -> bool:
        """Return whether articles are found by the words that they share with a question alone."""
        return self._ranker.by_words

    @property
    def has_dates(self) -> bool:
        """Return whether any article says when it is in force."""
        return self.articles.days_in_force is not None

    @property
    def signals(self) -> dict[str, SignalInfo]:
        """Return what an ensemble's signals are, by name: what the sources of its explanations say of an article."""
        return {signal.name: signal.info for signal in self._ranker.signals}

    def article_ids(self) -> tuple[str, ...]:
        """Return the id of every article row."""
        return tuple(article.article_id for article in self.articles.outlines)

    def search(self, question: str | Query, k: int = 10, *, passages: bool = False, **limits: object) -> list[Hit]:
        """Return the best `k` articles for a question (all of them where there are fewer).

        A BM25 run finds only articles that share a word with the question, so there may be fewer, or none.

        Args:
            question: a text, or a `Query`, which has its own `k` and limits.
            k: how many.
            passages: whether to find each hit's `passage`: a few milliseconds for ten hits.
            limits: the other fields of `Query`, such as `codes`.

        Raises:
            UsageError: as `Query` does, and if a limit, a code or the heading is unknown, or `among` holds anything but
                article rows.
        """
        (query,) = queries_of([question], k, limits)
        (ranked,) = self._ranker.rank([query.text], query.k, self.allowed(query))
        return self._hits(query, ranked, passages=passages)

    async def asearch(
        self, question: str | Query, k: int = 10, *, passages: bool = False, **limits: object
    ) -> list[Hit]:
        """Return the hits of a question, as `search` does, from a thread: the event loop goes on meanwhile."""
        return await asyncio.to_thread(self.search, question, k, passages=passages, **limits)

    def search_many(
        self, questions: Sequence[str | Query], k: int = 10, *, passages: bool = False, **limits: object
    ) -> list[list[Hit]]:
        """Return the hits of each question, as `search` does, in one pass through the encoder and the index for all
        that have the same limits."""
        queries = queries_of(questions, k, limits)
        ranked = zip(queries, self._rank(queries), strict=True)
        return [self._hits(query, ranking, passages=passages) for query, ranking in ranked]

    def search_rewritten(
        self, query: Query, rewriter: Rewriter, *, passages: bool = False
    ) -> tuple[list[Hit], str | None, str | None]:
        """Return the hits of a query, fused with those of its question as a rewriter words it; those words, and why
        there are none, each None where it is not so: without an answer the question is searched by its own words."""
        from statgraph.retrieval.search.rewriting import DEPTH, fused

        try:
            rewritten = rewriter.rewrite(query.text)
        except RewritingError as error:
            return self.search(query, passages=passages), None, str(error)
        deeper = replace(query, k=max(query.k, DEPTH))
        hits = fused(self.search_many([deeper, replace(deeper, text=rewritten)]), query.k)
        return self.with_passages(query.text, hits) if passages else hits, rewritten, None

    def rank(self, questions: Sequence[str | Query], k: int = 10, **limits: object) -> list[Ranked]:
        """Return the ranking of each question; the rest as in `search`, but without a day all articles are ranked, so
        that what is measured does not change from day to day."""
        return self._rank(queries_of(questions, k, limits, as_of=ALWAYS))

    def found(self, questions: Sequence[str | Query], k: int = 10, **limits: object) -> list[Ranked]:
        """Return the rows and scores of each question's hits in `search`: the ranking less what BM25 gives 0."""
        return [self._above_floor(ranked) for ranked in self._rank(queries_of(questions, k, limits))]

    def allowed(self, query: Query) -> AllowedRows | None:
        """Return the article rows that a query searches; None for all.

        The first query that names a code or a heading reads the place of every article.
        """
        rows = self._rows_of(query.codes, query.heading, query.day)
        if query.among is None:
            return rows
        among = query.among
        if not isinstance(among, AllowedRows):
            among = AllowedRows.checked(among, len(self.articles))
        return among & rows

    def _rows_within(self, codes: tuple[str, ...], heading: tuple[str, ...], day: int | None) -> AllowedRows | None:
        in_force = self.articles.in_force(day)
        if not codes and not heading:
            return in_force
        placed = placed_rows(self.articles.tree, codes, heading)
        return in_force if placed is None else placed & in_force

    def _rank(self, queries: Sequence[Query]) -> list[Ranked]:
        batches: dict[tuple[object, ...], list[int]] = {}
        for place, query in enumerate(queries):
            batches.setdefault(query.limits, []).append(place)
        ranked: dict[int, Ranked] = {}
        for places in batches.values():
            first, texts = queries[places[0]], [queries[place].text for place in places]
            for place, ranking in zip(places, self._ranker.rank(texts, first.k, self.allowed(first)), strict=True):
                ranked[place] = ranking
        return [ranked[place] for place in range(len(queries))]

    def _hits(self, query: Query, ranked: Ranked, *, passages: bool) -> list[Hit]:
        ranked = self._above_floor(ranked)
        found = zip(*ranked, known_probabilities(ranked), strict=True)
        hits = [self._hit(rank, *of_hit) for rank, of_hit in enumerate(found, start=1)]
        return self.with_passages(query.text, hits) if passages else hits

    def _hit(self, rank: int, row: int, score: float, probability: float | None = None) -> Hit:
        (article,), (valid_from, valid_to) = self.articles.read([row]), self.articles.validity(row)
        return Hit(
            rank, float(score), **vars(article), valid_from=valid_from, valid_to=valid_to, probability=probability
        )

    def _above_floor(self, ranked: Ranked) -> Ranked:
        floor = self._ranker.floor
        return ranked if floor is None else Ranked(*(values[ranked.scores > floor] for values in ranked))

    def with_passages(self, question: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return the same hits, each with its `passage`."""
        passages = self._passages.passages(self._as_read(question), [hit.text for hit in hits])
        return [replace(hit, passage=passage) for hit, passage in zip(hits, passages, strict=True)]

    def shared_words(self, question: str, hits: Sequence[Hit]) -> list[list[str]]:
        """Return the words of each hit, its title, rubric and path included, that are words of the question in whatever
        form, or what these are read as: lower-case, each once."""
        texts = ["\n".join((hit.title, hit.rubric, *hit.path, hit.text)) for hit in hits]
        return self._passages.words(self._as_read(question), texts)

    def _as_read(self, question: str) -> str:
        """Return a question with its typing errors corrected and its synonyms behind it."""
        bm25 = text_index(self._ranker)
        return question if bm25 is None else " ".join((bm25.corrected(question), *bm25.added_words(question)))

    @cached_property
    def _passages(self) -> PassageFinder:
        language = self._run.corpus.language if self._run else ""
        return PassageFinder(language, self._background, sentence_encoder(self._ranker))

    def _background(self) -> list[str]:
        """Return a few hundred texts from all over the law."""
        n_articles = len(self.articles)
        return [
            article.text for article in self.articles.read(range(0, n_articles, math.ceil(n_articles / _BACKGROUND)))
        ]

    def nothing_found(self, query: Query) -> Text:
        """Return why a search has no hits, and the remedy."""
        limited = self.has_dates and query.day is not None
        day = f"({option('as-of')} {query.as_of})"
        narrowed = [
            option(limit.option.lstrip("-"))
            for name, limit in LIMITS.items()
            if limit.is_filter and getattr(query, name)
        ]
        there = f" under {' and '.join(narrowed)}" if narrowed else ""
        if not self.by_words and not limited:
            return Text(f"No article is{there}; leave out one of them")
        if not self.by_words:
            return Text(f"No article{there} is in force {day}; choose another day, or always")
        remedy = f"use other words, or a run with a dense retriever ({option('run')})" + (
            f", or another {option('as-of')}" if limited else ""
        )
        force = f" in force {day}" if limited else ""
        return Text(f"No article{there}{force} shares a word with the question; {remedy}")

    def unknown_articles(self, question: str) -> list[str]:
        """Return the numbers that a question names for sure and no article carries: "9999", or "9999, Housing Code"
        where it names the code. The first question with a digit reads every title."""
        return self.articles.named_articles.unknown(question) if HAS_NUMBER.search(question) else []

    def corrected_words(self, question: str) -> dict[str, str]:
        """Return the words of a question that the law does not have and that are read as words of it, typing errors,
        each with that word: `{"depsoit": "deposit"}`. A run without BM25 reads every question as it is."""
        bm25 = text_index(self._ranker)
        return {} if bm25 is None or bm25.reader is None else bm25.reader.corrected_words(question)

    def explain(self, question: str | Query, hits: Sequence[Hit], **limits: object) -> list[Explanation]:
        """Return why each of these hits was found for a question, in their order; each at most once.

        The first call reads the graph and counts the articles' words: seconds, for tens of thousands of articles. Give
        the limits of the search: an ensemble's scores depend on the articles that it searched.

        Raises:
            UsageError: as in `search`, and if a hit is not an article of the run.
        """
        (query,) = queries_of([question], 1, limits)
        return self._ready_explainer().explain(query.text, hits, query.k, self.allowed(query))

    def prepare_explanations(self) -> None:
        """Do what the first `explain` would do, so that it answers as fast as the next; nothing if it was done."""
        if self._explainer is None:
            hit = self._hit(1, 0, 0.0)
            self._ready_explainer().explain(hit.title, [hit])

    def _ready_explainer(self) -> Explainer:
        with self._explainer_lock:
            if self._explainer is None:
                if self._run is None:
                    raise UsageError("this retriever was not loaded from a run; make it with Retriever.load")
                self._explainer = self._run.kind.explainer(self._run, self._ranker)
            return self._explainer
