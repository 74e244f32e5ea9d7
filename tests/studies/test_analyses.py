import dataclasses

import pytest

from statgraph.errors import CorpusError
from statgraph.law.records import Article
from statgraph.studies.analyses import LINES, SIMILARITY, article_similarity


def corpus_of(town_corpus, texts_by_code):
    articles = tuple(
        Article(f"{code}{order}", "t", text, (code,), order)
        for code, texts in texts_by_code.items()
        for order, text in enumerate(texts)
    )
    return dataclasses.replace(town_corpus, articles=articles, questions=())


def test_similarity_by_distance(town_corpus, tmp_path):
    # In each code places 0 and 1 are equal, and so are 2 and 3; the codes share no word, and no pair crosses them.
    corpus = corpus_of(town_corpus, {"A": ["lamp", "lamp", "well", "well"], "B": ["dog", "dog", "cart", "cart"]})
    found = article_similarity(corpus, tmp_path / "m.png")
    by_code, lines = found["by_code"], LINES[SIMILARITY](found)
    assert by_code["1"] == {code: (pytest.approx(2 / 3), 3) for code in "AB"}
    assert by_code["2"] == dict.fromkeys("AB", (0, 2))
    assert "5" not in by_code
    shown = {cells[1].strip(): float(cells[2]) for line in lines[4:] for cells in [line.split("|")]}
    # Two different articles of one code are equal in 1 of 3 pairs, any two in 1 of 7.
    assert shown["random, same code"] == pytest.approx(1 / 3, abs=0.03)
    assert shown["random, any code"] == pytest.approx(1 / 7, abs=0.03)
    assert "| 1 | 0.667 | 6 |" in lines
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_articles_stand_in_the_order_of_their_code(town_corpus, tmp_path):
    corpus = corpus_of(town_corpus, {"A": ["lamp", "well", "lamp", "well"]})
    first, second, third, fourth = corpus.articles
    shuffled = dataclasses.replace(corpus, articles=(first, third, second, fourth))
    assert article_similarity(shuffled, tmp_path / "m.png")["by_code"]["1"] == {"A": (0, 3)}


def test_no_pair_is_refused(town_corpus, tmp_path):
    with pytest.raises(CorpusError, match=r"^town: no code has two articles"):
        article_similarity(corpus_of(town_corpus, {"A": ["lamp"], "B": ["well"]}), tmp_path / "m.png")
