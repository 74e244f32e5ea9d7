"""What a search returns, as records: hits, and why each was found."""

from __future__ import annotations

from dataclasses import dataclass

from statgraph.lexical.bm25 import TermWeight

ITSELF = "itself"


@dataclass(frozen=True)
class Hit:
    """An article found. `rank` counts from 1; `score` is comparable within one run only.

    `passage` is where the text fits the question best, (start, end) in characters; None if it was not asked for, or
    nothing fits.
    """

    rank: int
    score: float
    article_id: str
    title: str
    path: tuple[str, ...]
    text: str
    passage: tuple[int, int] | None = None


@dataclass(frozen=True)
class Neighbour:
    """A node that the last graph layer looked at.

    Attributes:
        kind: article, heading or question.
        node_id: the id of an article or a question; of a heading its path as text.
        title: an article's citation, a heading's own title, a question's text.
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
class Explanation:
    """Why an article was found for a question.

    Attributes:
        article_id: the article.
        score: its score, computed again if there is a graph: that of the hit to within rounding.
        own_text_score: the question's score with the article's text alone, before the graph encoder; None for BM25.
            `score - own_text_score` is what the graph changed.
        without_questions_score: the score with no edge of the training questions that cite it; None where none does.
        neighbours: the attention of the last graph layer, heaviest first; empty where there is none.
        terms: the question's terms in the article, heaviest first; their weights add up to `bm25_score`. A BM25 run
            ranks by that score; in any other run it is only there to compare.
        bm25_score: that sum.
        note: why a part is missing, one line; empty where none is.
    """

    article_id: str
    score: float
    own_text_score: float | None
    without_questions_score: float | None
    neighbours: tuple[Neighbour, ...]
    terms: tuple[TermWeight, ...]
    bm25_score: float
    note: str = ""
