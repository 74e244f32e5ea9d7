import hashlib
from dataclasses import replace

import pytest

from statgraph.corpus import Article, Heading, headings_of
from statgraph.corpus.records import split_of


def test_article_stands_in_the_code_at_the_top_of_its_path(town):
    assert [article.code for article in town.articles] == ["Lamp Code", "Lamp Code", "Well Code"]


def test_heading_knows_title_depth_and_parent():
    heading = Heading(("Lamp Code", "Book I", "Title 2"))
    assert (heading.title, heading.depth, heading.parent) == ("Title 2", 3, Heading(("Lamp Code", "Book I")))
    assert Heading(("Lamp Code",)).parent is None


def test_headings_come_once_parents_first():
    articles = [
        Article("1", "1", "x", ("A", "Title", "S"), 1),
        Article("2", "2", "x", ("A", "Title"), 2),
        Article("3", "3", "x", ("B", "Title"), 1),
    ]
    assert [heading.path for heading in headings_of(articles)] == [
        ("A",), ("A", "Title"), ("A", "Title", "S"), ("B",), ("B", "Title"),
    ]  # fmt: skip


def test_rows_and_splits(town):
    assert town.article_rows == {"L1": 0, "L2": 1, "W1": 2}
    assert [question.question_id for question in town.split("test")] == ["q2"]
    assert town.split("dev") == ()
    assert town.label_rows(town.questions) == [[1], [0, 2]]


def test_equal_content_has_an_equal_hash_whatever_name_and_metadata(town):
    assert replace(town, name="other", source="elsewhere").content_hash == town.content_hash
    same = tuple(replace(article, metadata={"note": "kept"}) for article in town.articles)
    assert replace(town, articles=same).content_hash == town.content_hash


def test_any_change_of_content_changes_the_hash(town):
    first, *others = town.articles
    changed = [
        replace(town, articles=(replace(first, text="Lamps burn from dawn."), *others)),
        replace(town, articles=(replace(first, path=("Lamp Code",)), *others)),
        replace(town, articles=(replace(first, order=9), *others)),
        replace(town, questions=(replace(town.questions[0], split="dev"), town.questions[1])),
        replace(town, questions=town.questions[:1]),
    ]
    hashes = {corpus.content_hash for corpus in (town, *changed)}
    assert len(hashes) == 6
    assert all(len(content_hash) == 64 for content_hash in hashes)


def test_split_follows_the_first_eight_bytes_of_the_hash():
    for question_id in ("q1", "q2", "q17", "éàü"):
        place = int(hashlib.sha256(question_id.encode()).hexdigest()[:16], 16) / 2**64
        assert split_of(question_id) == ("train" if place < 0.60 else "dev" if place < 0.75 else "test")


def test_splits_are_the_same_on_every_machine():
    # First bytes of the hashes: 0x58 / 256 = 0.34, 0xbe / 256 = 0.74, 0xc7 / 256 = 0.78.
    assert [split_of(question_id) for question_id in ("q3", "q2", "q1")] == ["train", "dev", "test"]


def test_shares_are_met_over_many_questions():
    splits = [split_of(f"question {number}") for number in range(4000)]
    assert splits.count("train") == pytest.approx(2400, abs=120)
    assert splits.count("dev") == pytest.approx(600, abs=90)
    assert splits.count("test") == pytest.approx(1000, abs=110)


def test_a_share_of_zero_gets_no_question():
    splits = {split_of(f"question {number}", (0.85, 0.15, 0.0)) for number in range(500)}
    assert splits == {"train", "dev"}
    assert {split_of(f"question {number}", (0, 0, 1)) for number in range(50)} == {"test"}


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.5, 0.6, 0.1), (1.2, -0.2, 0.0)])
def test_shares_that_do_not_sum_to_one_are_refused(shares):
    with pytest.raises(ValueError, match="that sum to 1"):
        split_of("q1", shares)
