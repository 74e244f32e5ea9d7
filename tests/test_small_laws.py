"""The small laws themselves: their size, their questions, their citations, and what the poorer variants lack."""

import pytest

from statgraph.corpus.citations.references import ReferenceFinder
from statgraph.corpus.records import headings_of
from tests.law_fixtures import NAMES

SIZES = {"household-services": (84, 21), "vereine": (62, 17)}


def citations(corpus):
    """Return how many articles name another."""
    finder = ReferenceFinder([article.title for article in corpus.articles], [a.code for a in corpus.articles])
    return sum(
        any(row != named for named in finder.find(article.text, article.code))
        for row, article in enumerate(corpus.articles)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_law_has_20_questions_each_about_an_article_of_its_own(name, small_law):
    law = small_law(name)
    assert (len(law.articles), sum(1 for _ in headings_of(law.articles))) == SIZES[name]
    assert len(law.split("test")) == len({question.article_ids for question in law.questions}) == 20
    assert citations(law) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_variants_lack_what_they_are_named_for(name, small_law):
    assert citations(small_law(name, "without citations")) == 0
    assert [heading.depth for heading in headings_of(small_law(name, "without headings").articles)] == [1]
    assert [heading.depth for heading in headings_of(small_law(name, "with one heading").articles)] == [1, 2]
