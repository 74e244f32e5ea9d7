import pytest

from statgraph.corpus.records import Article, Heading
from statgraph.encoders.article_text import article_text, heading_text


@pytest.fixture
def article() -> Article:
    return Article(article_id="a1", title="Art. 1", text="The rent is due.", path=("Housing code", "Rent"), order=1)


def test_the_path_stands_in_front_of_the_text(article):
    assert article_text(article) == "Housing code > Rent\nThe rent is due."


def test_the_path_can_be_left_out(article):
    assert article_text(article, heading_path=False) == "The rent is due."


def test_a_heading_is_its_whole_path():
    assert heading_text(Heading(path=("Housing code", "Rent", "Arrears"))) == "Housing code > Rent > Arrears"
