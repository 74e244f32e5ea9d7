"""The small laws themselves: their size, their questions, their citations, and what the poorer variants lack.

`laws/official_acts` holds six more, as six states would publish them, with eight questions each.
"""

import pytest
import yaml

from statgraph.formats.acts.profile import fitting_profile
from statgraph.formats.acts.reader import root_of
from statgraph.formats.importing import import_corpus
from statgraph.law.citations.references import ReferenceFinder
from statgraph.law.tree import tree_of
from tests.law_fixtures import LAWS, NAMES
from tools.official_acts import SHOWN, ranks

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
    assert (len(law.articles), len(tree_of(law.articles).headings)) == SIZES[name]
    assert len(law.split("test")) == len({question.article_ids for question in law.questions}) == 20
    assert citations(law) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_variants_lack_what_they_are_named_for(name, small_law):
    assert citations(small_law(name, "without citations")) == 0
    assert [heading.depth for heading in tree_of(small_law(name, "without headings").articles).headings] == [1]
    assert [heading.depth for heading in tree_of(small_law(name, "with one heading").articles).headings] == [1, 2]


OFFICIAL = LAWS / "official_acts"
# What a reader must recognise, and find: profile, language, articles, and how many with marked references.
OFFICIAL_ACTS = {
    "biblioteche": ("akn-it", "it", 15, 2),
    "creches": ("akn-lu", "fr", 17, 2),
    "fahrradverleih": ("gii", "de", 16, 0),
    "kampeerterreinen": ("nl", "nl", 18, 1),
    "mercadillos": ("boe", "es", 17, 0),
    "taxi": ("clml", "en", 18, 0),
}
LAY_QUESTIONS = yaml.safe_load((OFFICIAL / "questions.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", OFFICIAL_ACTS)
def test_an_official_act_is_recognised_and_read(name):
    head = (OFFICIAL / f"{name}.xml").read_bytes()
    law = import_corpus(OFFICIAL / f"{name}.xml")
    cited = sum(bool(article.metadata.get("references")) for article in law.articles)
    read = fitting_profile(head, root_of(head)).name, law.language, len(law.articles), cited
    assert read == OFFICIAL_ACTS[name]
    assert {len(article.path) for article in law.articles} == {2}
    assert [a.number for a in law.articles if not a.rubric] == ["paragraph 1"] * (name == "taxi")  # of its schedule


def found(system, folder):
    """Return how many questions have their answer among the first hits, and how many there are."""
    ranked = [
        rank
        for name, questions in LAY_QUESTIONS.items()
        for rank in ranks(import_corpus(OFFICIAL / f"{name}.xml"), system, questions, folder / name)
    ]
    return sum(1 <= rank <= SHOWN for rank in ranked), len(ranked)


def test_words_alone_find_a_third_of_what_laypeople_ask(tmp_path):
    assert found("bm25", tmp_path) == (16, 48)


@pytest.mark.real
def test_an_ensemble_without_training_questions_finds_three_quarters(tmp_path):
    answered, asked = found("ensemble", tmp_path)
    assert answered >= 0.75 * asked
