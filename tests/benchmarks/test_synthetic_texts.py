import pytest

from benchmarks.synthetic_texts import WORDS_OF_QUESTION, synthetic_corpus
from statgraph.corpus.citations.references import references_among


@pytest.fixture(scope="module")
def corpus():
    return synthetic_corpus(1_000, n_questions=20)


def test_articles_stand_in_the_tree(corpus):
    assert [len(article.path) for article in corpus.articles] == [2] * 1_000
    assert len({article.path for article in corpus.articles}) == 100
    assert len({article.code for article in corpus.articles}) == 10


def test_citations_can_be_read(corpus):
    assert 1_000 < sum(map(len, references_among(corpus.articles))) < 2_000


def test_words_follow_zipf(corpus):
    texts = [set(article.text.split()) for article in corpus.articles]
    holding = [sum(word in text for text in texts) for word in ("ba", "bi", "zu")]  # ranks 1, 3 and 100
    assert holding[0] > holding[1] > 500 > 200 > holding[2] > 20


def test_a_question_is_words_of_its_article(corpus):
    for question in corpus.questions:
        (row,) = corpus.label_rows([question])[0]
        words = question.text.rstrip("?").split()
        assert len(words) <= WORDS_OF_QUESTION
        assert set(words) <= set(corpus.articles[row].text.replace(",", "").replace(".", "").split())
        assert not any(word.isdigit() for word in words)


def test_the_same_seed_gives_the_same_law(corpus):
    assert synthetic_corpus(1_000, n_questions=20).content_hash == corpus.content_hash
