"""Questions whose answer is given away: one that names an article, or ends with a training text that cites its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from statgraph.law.citations.named_articles import NamedArticles
from statgraph.law.records import Corpus, Question

GIVEN_AWAY, NOT_GIVEN_AWAY = "given away", "not given away"


class GivenAway:
    """Finds the questions of a corpus that an ensemble need not understand.

    A question is given away if it names an article by number or title, or if its last words are the whole text of a
    citing text that may be trained on and cites one of the question's articles, ignoring case and spaces.
    """

    def __init__(self, corpus: Corpus):
        articles = corpus.articles
        titles, numbers = ([getattr(each, name) for each in articles] for name in ("title", "number"))
        numbers = [number or title for number, title in zip(numbers, titles, strict=True)]
        self._named = NamedArticles(titles, [each.path for each in articles], numbers)
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        for text in corpus.usable_citing():
            for article_id in text.article_ids:
                self._texts[article_id].append(_plain(text.text))

    def masks(self, questions: Sequence[Question]) -> dict[str, np.ndarray]:
        """Return for both strata which of some questions they hold, (questions,) bool each; none where one is empty."""
        given = np.array([self._is_given(question) for question in questions], dtype=bool)
        return {GIVEN_AWAY: given, NOT_GIVEN_AWAY: ~given} if given.any() and not given.all() else {}

    def _is_given(self, question: Question) -> bool:
        asked = _plain(question.text)
        repeated = (asked.endswith(text) for key in question.article_ids for text in self._texts.get(key, ()) if text)
        return any(repeated) or len(self._named.rows(question.text)) > 0


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
