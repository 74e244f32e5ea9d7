"""Why a run found what it found: its graph looked into, BM25's terms counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.encoders.article_text import article_text, article_texts
from statgraph.errors import RunError, UsageError
from statgraph.lexical.analysis import words_of_terms
from statgraph.lexical.bm25 import TermWeight
from statgraph.lexical.term_statistics import TermStatistics
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import Run
from statgraph.search.hits import Explanation, Hit
from statgraph.search.ranker import Ranker

if TYPE_CHECKING:
    from statgraph.search.graph_run import GraphExplainer, GraphPart

# An index of float16 vectors is off by a thousandth; more is another graph's, or another index's.
_MOST_OFF = 0.01


class Explainer:
    """Explains the hits of one run; safe to use from any thread.

    What it needs beside the run's search is made or read once, seconds for tens of thousands of articles: how many
    articles hold each word, where the run does not rank by BM25, and the graph.

    Args:
        run: the run.
        ranker: what ranks them.
        articles: their texts.
    """

    def __init__(self, run: Run, ranker: Ranker, articles: ArticleStore):
        config = run.config
        stored = articles.read_all()
        self._ranker = ranker
        self._articles = articles
        self._heading_path = config.encoder.heading_path
        self._language = run.corpus.language
        self._rows = {article.article_id: row for row, article in enumerate(stored)}
        self._graph: GraphExplainer | None = None
        self._note = ""
        self._score_is_of_own_text = False
        self._statistics: TermStatistics | None = None
        if not run.has_vectors:
            return
        texts = (article_text(article, heading_path=self._heading_path) for article in stored)
        self._statistics = TermStatistics(texts, language=run.corpus.language, k1=config.bm25.k1, b=config.bm25.b)
        if not run.has_graph:
            self._note = "the run was trained without a graph"
            self._score_is_of_own_text = True
            return
        from statgraph.search.graph_run import GraphExplainer  # loads torch, which a run without a graph does without

        try:
            self._graph = GraphExplainer(run, stored)
        except RunError as error:
            self._note = str(error)
            return
        if self._graph.article_ids != tuple(self._rows):
            self._graph, self._note = None, f"{run.folder}: another run has taken its place on disk; load it again"
        elif not self._graph.has_attention:
            self._note = f"graph layer '{self._graph.layer}' has no attention to show"

    def explain(self, question: str, hits: Sequence[Hit], allowed: AllowedRows | None = None) -> list[Explanation]:
        """Return why each of these hits was found for a question, in their order, whatever rows were searched.

        Raises:
            UsageError: if a hit is not an article of the run, or occurs twice.
        """
        rows = hit_rows(hits, self._rows)
        terms = in_words(self._term_weights(question, rows), question, self._language)
        parts: list[GraphPart | None] = [None] * len(hits)
        if self._graph is not None:
            parts = self._graph.explain(self._ranker.question_vectors([question])[0], rows)
        return [self._explanation(*of_hit) for of_hit in zip(hits, parts, terms, strict=True)]

    def _term_weights(self, question: str, rows: Sequence[int]) -> list[list[TermWeight]]:
        if self._statistics is None:
            return self._ranker.bm25.term_weights(question, rows)
        texts = article_texts(self._articles.read(rows), heading_path=self._heading_path)
        return self._statistics.term_weights(question, texts)

    def _explanation(self, hit: Hit, part: GraphPart | None, terms: tuple[TermWeight, ...]) -> Explanation:
        words = terms, sum(term.weight for term in terms)
        plain = Explanation(hit.article_id, hit.score, None, None, (), *words, self._note)
        if part is None:
            return replace(plain, own_text_score=hit.score) if self._score_is_of_own_text else plain
        if abs(part.score - hit.score) > _MOST_OFF * max(1.0, abs(hit.score)):
            note = (
                f"what the run keeps of its graph gives a score of {part.score:.3f} where its index gives "
                f"{hit.score:.3f}: it is not what the index was made from; train the run again"
            )
            return replace(plain, note=note)
        return replace(plain, **vars(part))


def in_words(weights: Sequence[Sequence[TermWeight]], question: str, language: str) -> list[tuple[TermWeight, ...]]:
    """Return the terms of each hit as the words of the question that they stand for."""
    words = words_of_terms(question, language)
    return [tuple(TermWeight(words[part.term], part.weight) for part in of_hit) for of_hit in weights]


def hit_rows(hits: Sequence[Hit], rows: Mapping[str, int]) -> list[int]:
    """Return the article rows of hits.

    Args:
        hits: of a run.
        rows: its article rows by id.

    Raises:
        UsageError: if a hit is not an article of the run, or occurs twice.
    """
    strange = next((hit.article_id for hit in hits if hit.article_id not in rows), None)
    if strange is not None:
        raise UsageError(f"article '{strange}': not in the run; explain hits of the same run")
    if len({hit.article_id for hit in hits}) < len(hits):
        raise UsageError("a hit occurs twice; give each once")
    return [rows[hit.article_id] for hit in hits]
