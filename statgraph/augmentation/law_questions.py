"""Questions made from the law itself: a heading asks for the articles under it, a citing sentence for what it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from statgraph.augmentation.store import SyntheticQuestion
from statgraph.errors import CorpusError, option
from statgraph.law.citations.references import ReferenceFinder
from statgraph.law.records import Article, Corpus, Heading, Question
from statgraph.law.titles import number_or_title

HEADINGS = "headings"
_MOST_ARTICLES = 100  # that a heading asks for: one of a whole book asks for nothing in particular
_HELD_OUT = 0.1
_MOST_HELD_OUT = 500
_SENTENCE = re.compile(r"[^.;\n]+(?:[.;](?=\S)[^.;\n]*)*[.;]?")
_MOST_CITED = 5  # by a sentence: more of them is a list
_LEAST_CHARACTERS = 40


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


def with_law_questions(corpus: Corpus, *, seed: int) -> Corpus:
    """Return a corpus whose questions are its headings and citing sentences; a tenth of the headings are the dev split.

    Raises:
        CorpusError: if there is neither a heading nor a citation.
    """
    headings = _heading_questions(corpus)
    order = np.random.default_rng(seed).permutation(len(headings))
    held_out = set(order[: min(_MOST_HELD_OUT, round(_HELD_OUT * len(headings)))].tolist())
    questions = [replace(q, split="dev") if place in held_out else q for place, q in enumerate(headings)]
    questions += _citation_questions(corpus.articles)
    if not questions:
        raise CorpusError(
            f"{corpus.name}: has neither headings nor citations to learn from; use {option('system')} zero-shot"
        )
    return replace(corpus, questions=tuple(questions), citing=())


def _heading_questions(corpus: Corpus) -> list[Question]:
    """Return each wording of a heading below the code as a question for all articles under headings of that wording."""
    below: dict[str, dict[str, None]] = {}
    for article in corpus.articles:
        for heading in article.path[1:]:
            below.setdefault(heading, {})[article.article_id] = None
    answers = {text: ids for text, ids in below.items() if len(ids) <= _MOST_ARTICLES}
    return [
        Question(f"heading-{number}", text, "train", tuple(ids)) for number, (text, ids) in enumerate(answers.items())
    ]


def _citation_questions(articles: tuple[Article, ...]) -> list[Question]:
    """Return each sentence that cites a few articles as a question for them."""
    finder = ReferenceFinder(list(map(number_or_title, articles)), [article.code for article in articles])
    answers: dict[str, tuple[str, ...]] = {}
    for row, article in enumerate(articles):
        for sentence in _sentences(article.text):
            cited = tuple(articles[to].article_id for to in finder.find(sentence, article.code) if to != row)
            if 0 < len(cited) <= _MOST_CITED:
                answers.setdefault(sentence, cited)
    return [Question(f"citation-{number}", text, "train", ids) for number, (text, ids) in enumerate(answers.items())]


def _sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        if len(sentence) >= _LEAST_CHARACTERS:
            yield sentence
