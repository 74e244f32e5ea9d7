from dataclasses import replace

import numpy as np
import pytest

from statgraph.law.query import Ranked
from statgraph.law.records import CitingText, Question
from statgraph.studies.given_away import GIVEN_AWAY, NOT_GIVEN_AWAY, GivenAway
from statgraph.studies.summary import metrics_of_sets


def asking(text: str, *article_ids: str, question_id: str = "q") -> Question:
    return Question(question_id, text, "test", article_ids)


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (asking("Taxes : dogs  are TAXED.", "dogs2"), True),
        (asking("Taxes : Dogs are taxed.", "wells1"), False),  # that text cites another article
        (asking("Dogs are taxed. When?", "dogs2"), False),
        (asking("When may I burn my lamps?", "lamps1"), False),
        (asking("What does article 5 say?", "wells1"), True),
        (asking("What does article 99 say?", "wells1"), False),
        # Of a test question's own text nothing may be trained on.
        (asking("Fences : A fence costs one crown a yard each year.", "fences2"), False),
    ],
)
def test_what_is_given_away(referring_town, cited_town, question, given):
    corpus = replace(referring_town, citing=cited_town.citing)
    other = asking("Are there fences?" if given else "What does article 3 say?", "dogs1", question_id="other")
    masks = GivenAway(corpus).masks([question, other])
    assert masks[GIVEN_AWAY].tolist() == [given, not given]
    assert masks[NOT_GIVEN_AWAY].tolist() == [not given, given]


def test_where_all_or_none_are_there_are_no_strata(town_corpus):
    assert GivenAway(town_corpus).masks(town_corpus.split("test")) == {}
    text = CitingText("c", "", town_corpus.split("test")[0].text, town_corpus.split("test")[0].article_ids)
    assert GivenAway(replace(town_corpus, citing=(text,))).masks(town_corpus.split("test")[:1]) == {}


def test_a_table_has_the_strata_of_each_set(town_corpus):
    class InOrder:
        def rank(self, questions, k):
            return [Ranked(np.arange(16), np.zeros(16))] * len(questions)

    first, second, *others = town_corpus.split("test")
    references = {"metadata": {"set": "references"}}
    named, plain = replace(first, text=town_corpus.articles[0].title, **references), replace(second, **references)
    corpus = replace(town_corpus, questions=(*town_corpus.split("train"), *others, named, plain))
    masks = metrics_of_sets(InOrder(), corpus, "test", GivenAway(corpus)).masks
    assert masks[f"references: {NOT_GIVEN_AWAY}"].sum() == masks[f"references: {GIVEN_AWAY}"].sum() == 1
    assert NOT_GIVEN_AWAY not in masks
