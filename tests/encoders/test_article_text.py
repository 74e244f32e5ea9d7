import hashlib
from dataclasses import replace

import numpy as np
import pytest

from statgraph.encoders.article_text import article_text, heading_texts, text_hashes
from statgraph.law.records import Article, Heading


@pytest.fixture
def article() -> Article:
    return Article(article_id="a1", title="Art. 1", text="The rent is due.", path=("Housing code", "Rent"), order=1)


def test_the_path_stands_in_front_of_the_text_unless_left_out(article):
    assert article_text(article) == "Housing code > Rent\nThe rent is due."
    assert article_text(article, heading_path=False) == "The rent is due."


def test_the_rubric_stands_in_front_of_the_text(article):
    named = replace(article, number="Art. 1", rubric="Arrears")
    assert article_text(named) == "Housing code > Rent\nArrears\nThe rent is due."
    assert article_text(named, heading_path=False) == "Arrears\nThe rent is due."


def test_a_heading_is_its_whole_path_or_its_title_alone():
    headings = [Heading(path=("Housing code", "Rent", "Arrears")), Heading(path=("Housing code",))]
    assert heading_texts(headings) == ["Housing code > Rent > Arrears", "Housing code"]
    assert heading_texts(headings, heading_path=False) == ["Arrears", "Housing code"]


def test_each_text_has_the_hash_of_its_utf8_bytes():
    hashes = text_hashes(["loi", "Art. 1 “é”", "loi", "l oi"])
    assert (hashes.shape, hashes.dtype) == ((4, 16), np.uint8)
    assert hashes[1].tobytes() == hashlib.blake2b("Art. 1 “é”".encode(), digest_size=16).digest()
    assert (hashes[0] == hashes[2]).all()
    assert (hashes[0] != hashes[3]).any()
    assert text_hashes([]).shape == (0, 16)
