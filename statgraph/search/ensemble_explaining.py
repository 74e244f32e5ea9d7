"""Why an ensemble found what it found: what each signal and each structural fact added to the score."""

from __future__ import annotations

from collections.abc import Sequence

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.ranking.contributions import Part, score_parts
from statgraph.ranking.ensemble import Ensemble
from statgraph.runs.article_store import ArticleStore
from statgraph.search.explaining import hit_rows, in_words
from statgraph.search.hits import Contribution, Explanation, Hit
from statgraph.signals.lexical import LexicalSignal

_TERMS_OF = "bm25"  # the signal whose terms are shown
_MOST_OFF = 1e-3
_OTHER_SEARCH = "the hit is of another search; explain it with the same articles, day and number of hits"


class EnsembleExplainer:
    """Explains the hits of one ensemble; safe to use from any thread.

    Args:
        ensemble: what ranks the articles.
        articles: their texts.
    """

    def __init__(self, ensemble: Ensemble, articles: ArticleStore):
        self._ensemble = ensemble
        stored = articles.read_all()
        self._rows = {article.article_id: row for row, article in enumerate(stored)}
        self._named = [(article.article_id, article.title) for article in stored]
        self._bm25 = next(
            (
                signal.bm25
                for signal in ensemble.signals
                if isinstance(signal, LexicalSignal) and signal.kind == _TERMS_OF
            ),
            None,
        )

    def explain(self, question: str, hits: Sequence[Hit], allowed: AllowedRows | None = None) -> list[Explanation]:
        """Return why each of these hits was found for a question, in their order.

        Args:
            question: what the search was asked.
            hits: all that it found, or the first of them.
            allowed: the rows that it ranked; None is all.

        Raises:
            UsageError: if a hit is not an article of the run, or occurs twice.
        """
        rows = hit_rows(hits, self._rows)
        if not rows:
            return []
        # As many candidates as the search had.
        parts = score_parts(self._ensemble, question, rows, max(hit.rank for hit in hits), allowed)
        terms = [()] * len(rows)
        if self._bm25 is not None:
            terms = in_words(self._bm25.term_weights(question, rows), question, self._bm25.language)
        return [self._explanation(*of_hit) for of_hit in zip(hits, parts, terms, strict=True)]

    def _explanation(self, hit: Hit, parts: Sequence[Part], terms) -> Explanation:
        bm25_score = None if self._bm25 is None else sum(term.weight for term in terms)
        plain = (hit.article_id, hit.score, None, None, (), terms, bm25_score)
        if abs(sum(part.amount for part in parts) - hit.score) > _MOST_OFF:
            return Explanation(*plain, note=_OTHER_SEARCH)
        return Explanation(*plain, contributions=tuple(map(self._contribution, parts)))

    def _contribution(self, part: Part) -> Contribution:
        article_id, title = (None, "") if part.lender is None else self._named[part.lender]
        return Contribution(part.source, part.amount, part.rank, article_id, title)
