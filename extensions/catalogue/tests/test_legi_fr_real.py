from collections import Counter

import pytest

from statgraph.corpus import SPLITS, Heading, headings_of, read_corpus
from statgraph.corpus.records import MAIN_SET
from statgraph_catalogue.fact_sheets import REFERENCES

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
    headings = list(headings_of(legi_fr.articles))
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


@pytest.mark.parametrize(
    ("row", "article_id", "title", "depth", "order", "characters"),
    [
        (0, "LEGIARTI000018764571", "Art. L1, Code du travail", 3, 1, 1193),
        (9, "LEGIARTI000033957410", "Art. L1131-2, Code du travail", 6, 10, 266),
        (
            -1,
            "LEGIARTI000031370875",
            "Art. R584-3, Code des relations entre le public et l'administration",
            4,
            474,
            302,
        ),
    ],
)
def test_first_tenth_and_last_article(legi_fr, row, article_id, title, depth, order, characters):
    article = legi_fr.articles[row]
    assert (article.article_id, article.title) == (article_id, title)
    assert (len(article.path), article.order, len(article.text)) == (depth, order, characters)


@pytest.mark.parametrize(
    ("row", "question_id", "split", "labels", "first_article_id"),
    [
        (0, "F12", "test", 2, "LEGIARTI000047850989"),
        (9, "F58", "train", 20, "LEGIARTI000006904757"),
        (774, "F35445", "train", 6, "LEGIARTI000048590568"),
    ],
)
def test_first_tenth_and_last_question(legi_fr, row, question_id, split, labels, first_article_id):
    question = legi_fr.questions[row]
    assert (question.question_id, question.split) == (question_id, split)
    assert (len(question.article_ids), question.article_ids[0]) == (labels, first_article_id)
