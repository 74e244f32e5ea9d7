"""Headings as questions: what a table of contents calls an article is what somebody may ask for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from statgraph.augmentation.store import SyntheticQuestion
from statgraph.corpus.records import Article, Heading

HEADINGS = "headings"


def wordings_of(heading: Heading) -> tuple[str, ...]:
    """Return a heading as questions: its title alone, then its parent's title with it."""
    parent = heading.parent
    return (heading.title, f"{parent.title} {heading.title}") if parent else (heading.title,)


def heading_questions(
    articles: Sequence[Article], *, articles_per_heading: int, rng: np.random.Generator
) -> list[SyntheticQuestion]:
    """Return both wordings of every heading as questions for the articles right under it, by first appearance.

    Equal wordings of different headings are one question for the articles of all of them. Of a heading with more than
    `articles_per_heading` articles so many are drawn at random, since its first ones are alike (definitions, scope).
    """
    answers: dict[str, dict[str, None]] = {}
    for path, article_ids in _ids_by_path(articles).items():
        chosen = article_ids
        if len(article_ids) > articles_per_heading:
            rows = np.sort(rng.choice(len(article_ids), articles_per_heading, replace=False))
            chosen = [article_ids[row] for row in rows]
        for wording in wordings_of(Heading(path)):
            answers.setdefault(wording, {}).update(dict.fromkeys(chosen))
    return [SyntheticQuestion(text, tuple(article_ids), HEADINGS) for text, article_ids in answers.items()]


def path_questions(articles: Sequence[Article], *, most: int) -> list[SyntheticQuestion]:
    """Return for every article the wordings of the headings above it, nearest first and at most so many.

    One question for all articles of one path, so that each article meets its questions in this order; a wording that
    is above several paths comes once for each.
    """
    questions = []
    for path, article_ids in _ids_by_path(articles).items():
        headings = (Heading(path[:depth]) for depth in range(len(path), 0, -1))
        wordings = dict.fromkeys(wording for heading in headings for wording in wordings_of(heading))
        questions += [SyntheticQuestion(text, tuple(article_ids), HEADINGS) for text in list(wordings)[:most]]
    return questions


def _ids_by_path(articles: Sequence[Article]) -> dict[tuple[str, ...], list[str]]:
    ids: dict[tuple[str, ...], list[str]] = {}
    for article in articles:
        ids.setdefault(article.path, []).append(article.article_id)
    return ids
