"""Questions made from the law itself: a heading asks for what stands under it, a citing sentence for what it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from statgraph.corpus.citations.references import ReferenceFinder
from statgraph.corpus.records import Article, Corpus, Question
from statgraph.errors import CorpusError

_MOST_ARTICLES = 100  # that a heading asks for: one of a whole book asks for nothing in particular
_HELD_OUT = 0.1
_MOST_HELD_OUT = 500
_SENTENCE = re.compile(r"[^.;\n]+(?:[.;](?=\S)[^.;\n]*)*[.;]?")
_MOST_CITED = 5  # by a sentence: more of them is a list
_LEAST_CHARACTERS = 40


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
        raise CorpusError(f"{corpus.name}: has neither headings nor citations to learn from; use --system zero-shot")
    return replace(corpus, questions=tuple(questions), citing=())


def _heading_questions(corpus: Corpus) -> list[Question]:
    """Return each wording of a heading below the code as a question for all articles under headings of that wording."""
    below: dict[str, dict[str, None]] = {}
    for article in corpus.articles:
        for heading in article.path[1:]:
            below.setdefault(heading, {})[article.article_id] = None
    asked = {text: ids for text, ids in below.items() if len(ids) <= _MOST_ARTICLES}
    return [
        Question(f"heading-{number}", text, "train", tuple(ids)) for number, (text, ids) in enumerate(asked.items())
    ]


def _citation_questions(articles: tuple[Article, ...]) -> list[Question]:
    """Return each sentence that cites a few articles as a question for them."""
    finder = ReferenceFinder([article.title for article in articles], [article.code for article in articles])
    asked: dict[str, tuple[str, ...]] = {}
    for row, article in enumerate(articles):
        for sentence in _sentences(article.text):
            cited = tuple(articles[to].article_id for to in finder.find(sentence, article.code) if to != row)
            if 0 < len(cited) <= _MOST_CITED:
                asked.setdefault(sentence, cited)
    return [Question(f"citation-{number}", text, "train", ids) for number, (text, ids) in enumerate(asked.items())]


def _sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        if len(sentence) >= _LEAST_CHARACTERS:
            yield sentence
