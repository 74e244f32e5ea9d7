from collections import Counter

import pytest

from statgraph.formats.catalogue.fact_sheets import REFERENCES
from statgraph.law import SPLITS, Heading, read_corpus
from statgraph.law.records import MAIN_SET
from statgraph.law.tree import tree_of

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def legi_fr(legi_fr_folder):
    return read_corpus(legi_fr_folder)


def test_articles_of_each_code(legi_fr):
    assert Counter(article.code for article in legi_fr.articles) == {
        "Code du travail": 11_545,
        "Code rural et de la pêche maritime": 9_724,
        "Code de la sécurité sociale": 7_372,
        "Code des relations entre le public et l'administration": 474,
    }


def test_headings(legi_fr):
    headings = tree_of(legi_fr.articles).headings
    # 11,024 codes and sections, less 651 sections without an article in force and one that doubles its neighbour.
    assert len(headings) == 10_372
    assert max(heading.depth for heading in headings) == 10
    assert headings[0] == Heading(("Code du travail",))


def test_questions_of_each_split_and_kind(legi_fr):
    questions = [question for split in SPLITS for question in legi_fr.split(split)]
    assert Counter((question.split, question.metadata["kind"]) for question in questions) == {
        ("train", "question"): 228,
        ("train", "topic"): 264,
        ("dev", "question"): 41,
        ("dev", "topic"): 76,
        ("test", "question"): 78,
        ("test", "topic"): 88,
    }
    assert sum(len(question.article_ids) for question in questions) == 9_630


def test_references_of_each_split(legi_fr):
    assert {split: len(legi_fr.split(split, REFERENCES)) for split in SPLITS} == {
        "train": 1_518,
        "dev": 315,
        "test": 413,
    }
    assert legi_fr.question_sets == (MAIN_SET, REFERENCES)


def test_citing_texts_of_each_part(legi_fr):
    assert Counter(text.part for text in legi_fr.citing) == {"reference": 2_246, "section": 6_829, "paragraph": 22_674}
    assert Counter(text.part for text in legi_fr.usable_citing()) == {
        "reference": 1_432,
        "section": 4_448,
        "paragraph": 13_570,
    }
