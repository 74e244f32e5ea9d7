"""What a search returns, as records: hits, and why each was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from statgraph.retrieval.lexical.bm25 import TermWeight

ITSELF = "itself"
UNLIKELY = 0.05  # where no hit is more probable than this, probably nothing answers the question


@dataclass(frozen=True)
class Hit:
    """An article found. `rank` counts from 1; `score` is comparable within one question only, `probability` anywhere:
    that the article is labelled an answer, 0 to 1, or None where the run has no calibration.

    `passage` is where the text fits the question best, (start, end) in characters; None if it was not asked for, or
    nothing fits. `number` and `rubric` are "" where they are not known. The article is in force from `valid_from` up to
    the day before `valid_to`, ISO dates; None where there is no such day.
    """

    rank: int
    score: float
    article_id: str
    title: str
    path: tuple[str, ...]
    text: str
    passage: tuple[int, int] | None = None
    number: str = ""
    rubric: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    probability: float | None = None


def nothing_fits(hits: Sequence[Hit]) -> bool:
    """Return whether probably no article answers the question: there are hits, and none is likely to."""
    return bool(hits) and all(hit.probability is not None and hit.probability < UNLIKELY for hit in hits)


@dataclass(frozen=True)
class Neighbour:
    """A node that the last graph layer looked at.

    Attributes:
        kind: article, heading, question or citing.
        node_id: the id of an article, a question or a citing text; of a heading its path as text.
        title: an article's citation, a heading's own title, a question's text, a citing text with its document's title.
        path: of a heading, from the code down; else empty.
        relation: the edge from the neighbour to the article; `itself` where it is the article.
        weight: its share of the attention, a mean over the heads: all of an article add up to 1.
        least: the smallest share that a head gives it.
        most: the largest.
    """

    kind: str
    node_id: str
    title: str
    path: tuple[str, ...]
    relation: str
    weight: float
    least: float
    most: float


@dataclass(frozen=True)
class Contribution:
    """What an ensemble's signal, or a fact of the law's structure, adds to the score of an article.

    Attributes:
        source: a signal's name, or `section` (the best article under the same heading), `cited_by`, `cites` (the best
            that cites it, that it cites), `reader` (the cross-encoder).
        amount: what it adds; negative if it takes away.
        rank: of a signal and of `reader`, the article's place by that alone; of a source that has an article, that
            article's place among the hits. None where it is far down, or there is none.
        article_id: the article that lends it, for the sources that speak of another; it may be the article itself.
        title: of that article.
    """

    source: str
    amount: float
    rank: int | None = None
    article_id: str | None = None
    title: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why an article was found for a question.

    Attributes:
        article_id: the article.
        score: its score, computed again if there is a graph: that of the hit to within rounding.
        own_text_score: the question's score with the article's text alone, before the graph encoder; None for BM25
            and ensembles. `score - own_text_score` is what the graph changed.
        without_questions_score: the score with no edge of the training questions that cite it; None where none does.
        neighbours: the attention of the last graph layer, heaviest first; empty where there is none.
        terms: the question's words that the article holds, in whatever form, heaviest first; their weights add up to
            `bm25_score`. A BM25 run ranks by that score; of an ensemble it is a signal; in any other run it is only
            there to compare.
        bm25_score: that sum; None for an ensemble without BM25.
        note: why a part is missing, one line; empty where none is.
        contributions: of an ensemble, what adds up to the score, largest first whatever the sign, `base` last.
    """

    article_id: str
    score: float
    own_text_score: float | None
    without_questions_score: float | None
    neighbours: tuple[Neighbour, ...]
    terms: tuple[TermWeight, ...]
    bm25_score: float | None
    note: str = ""
    contributions: tuple[Contribution, ...] = ()
