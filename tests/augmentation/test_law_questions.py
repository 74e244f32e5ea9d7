import numpy as np
import pytest

from statgraph.augmentation.law_questions import heading_questions, path_questions, wordings_of
from statgraph.law.records import Article, Heading


def drawn(articles, most=100, seed=0):
    questions = heading_questions(articles, articles_per_heading=most, rng=np.random.default_rng(seed))
    assert {question.generator for question in questions} == {"headings"}
    return {question.text: question.article_ids for question in questions}


def test_a_heading_asks_alone_and_with_its_parent():
    assert wordings_of(Heading(("Code", "Part", "Rents"))) == ("Rents", "Part Rents")
    assert wordings_of(Heading(("Code",))) == ("Code",)


def test_headings_of_the_village_by_hand(village):
    assert list(drawn(village.articles).items()) == [
        ("General rules", ("L1", "L2", "W1", "W2")),
        ("Lamp Code General rules", ("L1", "L2")),
        ("Lighting", ("L3",)),
        ("Duties Lighting", ("L3",)),
        ("Well Code General rules", ("W1", "W2")),
        ("Well Code", ("W3",)),
    ]


def test_a_heading_asks_for_no_more_articles_than_told(village):
    for seed in range(5):
        answers = drawn(village.articles, most=1, seed=seed)
        (lamp,), (well,) = answers["Lamp Code General rules"], answers["Well Code General rules"]
        assert answers["General rules"] == (lamp, well)  # the cap is a heading's, not a wording's
        assert (lamp in ("L1", "L2"), well in ("W1", "W2")) == (True, True)


def test_which_articles_depends_on_the_seed_alone():
    articles = [Article(f"a{row}", "", "text", ("Code",), row) for row in range(50)]
    picks = [drawn(articles, most=5, seed=seed)["Code"] for seed in range(4)]
    assert picks == [drawn(articles, most=5, seed=seed)["Code"] for seed in range(4)]
    assert len(set(picks)) == 4
    for pick in picks:
        rows = [int(article_id[1:]) for article_id in pick]
        assert (len(rows), rows) == (5, sorted(set(rows)))


def test_paths_are_asked_from_the_nearest_heading_up(village):
    asked = [question for question in path_questions(village.articles, most=5) if "L3" in question.article_ids]
    assert [question.text for question in asked] == [
        "Lighting", "Duties Lighting", "Duties", "Lamp Code Duties", "Lamp Code",
    ]  # fmt: skip


@pytest.mark.parametrize(("most", "lengths"), [(1, [1, 1, 1, 1]), (2, [2, 2, 2, 1]), (9, [3, 5, 3, 1])])
def test_a_path_asks_no_more_questions_than_told(village, most, lengths):
    questions = path_questions(village.articles, most=most)
    by_path = {}
    for question in questions:
        by_path.setdefault(question.article_ids, []).append(question.text)
    assert list(by_path) == [("L1", "L2"), ("L3",), ("W1", "W2"), ("W3",)]
    assert [len(texts) for texts in by_path.values()] == lengths


def test_a_heading_like_its_parent_asks_once():
    article = Article("a", "", "text", ("Rents", "Rents"), 1)
    assert [question.text for question in path_questions([article], most=9)] == ["Rents", "Rents Rents"]
