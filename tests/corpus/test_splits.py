import hashlib

import pytest

from statgraph.corpus.splits import split_of


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
