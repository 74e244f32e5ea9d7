"""Law of any size as arrays: a tree whose headings have ten children each, and questions that cite articles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from statgraph.graph.relations import (
    ARTICLE,
    CITES,
    CONTAINS_ARTICLE,
    CONTAINS_HEADING,
    HEADING,
    QUESTION,
    Edges,
    Relation,
)

CHILDREN = 10  # of each heading: headings, or articles under the lowest ones
ARTICLES_A_QUESTION = 10  # cited by each; 12 in legi-fr
NEARBY = 1000  # articles that stand together


@dataclass(frozen=True)
class SyntheticLaw:
    """Who stands under whom and who cites what, as int64 rows.

    `heading_parents` (headings,) with -1 for a code, `article_parents` (articles,), and for each citation its question
    and its article, `citing` and `cited` (citations,).
    """

    heading_parents: np.ndarray
    article_parents: np.ndarray
    citing: np.ndarray
    cited: np.ndarray

    @property
    def node_counts(self) -> dict[str, int]:
        """Return the number of nodes of each type."""
        questions = len(self.citing) // ARTICLES_A_QUESTION
        return {ARTICLE: len(self.article_parents), HEADING: len(self.heading_parents), QUESTION: questions}

    @property
    def edges(self) -> dict[Relation, Edges]:
        """Return the rows that each relation joins, as `heterograph_of` takes them."""
        below = np.flatnonzero(self.heading_parents >= 0)
        return {
            CONTAINS_ARTICLE: (self.article_parents, np.arange(len(self.article_parents))),
            CONTAINS_HEADING: (self.heading_parents[below], below),
            CITES: (self.citing, self.cited),
        }


def synthetic_law(n_articles: int, *, nearby: bool = False, seed: int = 0) -> SyntheticLaw:
    """Return a law of ten codes (20, 30, ...) with a question for each ten articles, which cites ten of them at
    random: of all, or with `nearby` of a thousand that stand together, the first hundred questions of the first
    thousand and so on.

    10**7 articles stand under six levels of headings, and each power of ten below has one level fewer; 3 * 10**7 are
    three such laws.

    Raises:
        ValueError: if the number of articles is not 1 to 9 times a power of ten from 100.
    """
    levels, laws = len(str(n_articles)) - 2, int(str(n_articles)[0])
    if levels < 1 or n_articles != laws * CHILDREN ** (levels + 1):
        raise ValueError(f"{n_articles} articles: not 1 to 9 times a power of ten; give 100, 200, 1000, 30000, ...")
    sizes = [laws * CHILDREN**level for level in range(1, levels + 1)]
    starts = np.cumsum([0, *sizes])  # first heading of each level
    parents = [np.full(sizes[0], -1)]
    parents += [start + np.arange(size) // CHILDREN for start, size in zip(starts, sizes[1:], strict=False)]
    n_questions = n_articles // CHILDREN
    choice = min(NEARBY, n_articles) if nearby else n_articles
    citing = np.repeat(np.arange(n_questions), ARTICLES_A_QUESTION)
    first = citing * CHILDREN // choice * choice  # of the articles that a question chooses from
    return SyntheticLaw(
        heading_parents=np.concatenate(parents),
        article_parents=starts[-2] + np.arange(n_articles) // CHILDREN,
        citing=citing,
        cited=first + np.random.default_rng(seed).integers(choice, size=len(citing)),
    )
