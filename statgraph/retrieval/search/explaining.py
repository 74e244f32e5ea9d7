"""Why a run found what it found: its words counted, its graph looked into, its signals weighed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from statgraph.encoders.article_text import article_text, article_texts
from statgraph.errors import RETRAIN, RunError, UsageError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.lexical.analysis import words_of_terms
from statgraph.retrieval.lexical.bm25 import TermStatistics, TermWeight
from statgraph.retrieval.ranking.contributions import Part, score_parts
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.search.hits import Contribution, Explanation, Hit
from statgraph.retrieval.search.ranker import DenseRanker, Ranker, text_index
from statgraph.runs.run import RunFolder

if TYPE_CHECKING:
    from statgraph.retrieval.search.graph_run import GraphExplainer

# An index of float16 vectors is off by a thousandth; more is another graph's, or another index's.
_MAX_INDEX_ERROR = 0.01
_MAX_SUM_ERROR = 1e-3
_OTHER_SEARCH = "the hit is of another search; explain it with the same articles, day and number of hits"


class Explainer:
    """Explains the hits of one run by the words that they share with the question; safe to use from any thread."""

    note = ""  # of every explanation

    def __init__(self, run: RunFolder, ranker: Ranker):
        self._language = run.corpus.language
        self._outlines = run.articles.outlines
        self._rows = {article.article_id: row for row, article in enumerate(self._outlines)}
        self._bm25 = text_index(ranker)

    def explain(
        self, question: str, hits: Sequence[Hit], k: int = 1, allowed: AllowedRows | None = None
    ) -> list[Explanation]:
        """Return why each of these hits of a search for `k` or more was found, in their order; `allowed` is the rows
        that the search ranked, None for all.

        Raises:
            UsageError: if a hit is not an article of the run, or occurs twice.
        """
        if not hits:
            return []
        strange = next((hit.article_id for hit in hits if hit.article_id not in self._rows), None)
        if strange is not None:
            raise UsageError(f"article '{strange}': not in the run; explain hits of the same run")
        if len({hit.article_id for hit in hits}) < len(hits):
            raise UsageError("a hit occurs twice; give each once")
        rows = [self._rows[hit.article_id] for hit in hits]
        terms: list[tuple[TermWeight, ...]] = [()] * len(rows)
        weights = self._term_weights(question, rows)
        if weights is not None:
            read = question if self._bm25 is None else self._bm25.corrected(question)
            words = words_of_terms(read, self._language)
            terms = [
                tuple(TermWeight(words.get(part.term, part.term), part.weight) for part in parts) for parts in weights
            ]
        scores = [None if weights is None else sum(term.weight for term in shared) for shared in terms]
        plain = [
            Explanation(hit.article_id, hit.score, None, None, (), shared, bm25_score, self.note)
            for hit, shared, bm25_score in zip(hits, terms, scores, strict=True)
        ]
        # An ensemble's scores depend on how many articles were searched for.
        return self._completed(plain, question, rows, max(k, *(hit.rank for hit in hits)), allowed)

    def _term_weights(self, question: str, rows: Sequence[int]) -> list[list[TermWeight]] | None:
        """Return each article's share of BM25 for the question's terms; None where the run does not use BM25."""
        return None if self._bm25 is None else self._bm25.term_weights(question, rows)

    def _completed(
        self, plain: list[Explanation], question: str, rows: list[int], k: int, allowed: AllowedRows | None
    ) -> list[Explanation]:
        """Return the explanations with what the run knows beside the words."""
        return plain


class DenseExplainer(Explainer):
    """Explains the hits of a dense run, by its graph where it has one.

    It counts how many articles hold each word and reads the graph: seconds, for tens of thousands of articles.
    """

    def __init__(self, run: RunFolder, ranker: DenseRanker):
        super().__init__(run, ranker)
        self._ranker = ranker
        self._articles = run.articles
        self._heading_path = run.config.encoder.heading_path
        texts = (article_text(article, heading_path=self._heading_path) for article in run.articles)
        bm25 = run.config.bm25
        self._statistics = TermStatistics(texts, language=run.corpus.language, k1=bm25.k1, b=bm25.b, stop_words=False)
        self._graph: GraphExplainer | None = None
        self._scores_own_text = not run.has_graph
        if not run.has_graph:
            self.note = "the run was trained without a graph"
            return
        from statgraph.retrieval.search.graph_run import (
            GraphExplainer,  # loads torch, which a run without a graph does without
        )

        try:
            self._graph = GraphExplainer(run)
        except RunError as error:
            self.note = str(error)
            return
        if self._graph.article_ids != tuple(self._rows):
            self._graph, self.note = None, f"{run.folder}: another run has taken its place on disk; load it again"
        elif not self._graph.has_attention:
            self.note = f"graph layer '{self._graph.layer}' has no attention to show"

    def _term_weights(self, question: str, rows: Sequence[int]) -> list[list[TermWeight]]:
        texts = article_texts(self._articles.read(rows), heading_path=self._heading_path)
        return self._statistics.term_weights(question, texts)

    def _completed(
        self, plain: list[Explanation], question: str, rows: list[int], k: int, allowed: AllowedRows | None
    ) -> list[Explanation]:
        if self._scores_own_text:
            return [replace(why, own_text_score=why.score) for why in plain]
        if self._graph is None:
            return plain
        parts = self._graph.explain(self._ranker.encoder.encode([question])[0], rows)
        completed = []
        for why, part in zip(plain, parts, strict=True):
            if abs(part.score - why.score) <= _MAX_INDEX_ERROR * max(1.0, abs(why.score)):
                completed.append(replace(why, **vars(part)))
                continue
            note = (
                f"what the run keeps of its graph gives a score of {part.score:.3f} where its index gives "
                f"{why.score:.3f}: it is not what the index was made from; {RETRAIN}"
            )
            completed.append(replace(why, note=note))
        return completed


class EnsembleExplainer(Explainer):
    """Explains the hits of an ensemble by what each signal and each structural fact added to the score."""

    def __init__(self, run: RunFolder, ranker: Ensemble):
        super().__init__(run, ranker)
        self._ensemble = ranker

    def _completed(
        self, plain: list[Explanation], question: str, rows: list[int], k: int, allowed: AllowedRows | None
    ) -> list[Explanation]:
        completed = []
        for why, parts in zip(plain, score_parts(self._ensemble, question, rows, k, allowed), strict=True):
            if abs(sum(part.amount for part in parts) - why.score) > _MAX_SUM_ERROR:
                completed.append(replace(why, note=_OTHER_SEARCH))
            else:
                completed.append(replace(why, contributions=tuple(map(self._contribution, parts))))
        return completed

    def _contribution(self, part: Part) -> Contribution:
        if part.lender is None:
            return Contribution(part.source, part.amount, part.rank, None, "")
        lender = self._outlines[part.lender]
        return Contribution(part.source, part.amount, part.rank, lender.article_id, lender.title)
