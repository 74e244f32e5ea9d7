import re
import sys

import numpy as np
import pytest

from statgraph.encoders.article_text import article_text
from statgraph.errors import CorpusError
from statgraph.law import catalogue as sample
from statgraph.law.catalogue import sample_folder
from statgraph.law.records import SPLITS, Corpus
from statgraph.law.splitting import split_of
from statgraph.law.store import read_corpus, read_manifest
from statgraph.law.tree import tree_of
from statgraph.retrieval.lexical.bm25 import BM25

CODES = ("Housing Code", "Work Code", "Family Code")
# "Article 5", "Articles 19 to 31, 50, 54 or 83", "Article 55(4)", "Article 12 of the Work Code"
REFERENCE = re.compile(r"Articles? (\d+(?:\(\d+\))?(?:(?:, | and | or | to )\d+(?:\(\d+\))?)*)(?: of the (\w+ Code))?")
PARAGRAPH = re.compile(r"\(\d+\)")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_corpus(sample_folder())


def test_counts(corpus):
    assert len(corpus.articles) == 321
    assert [sum(article.code == code for article in corpus.articles) for code in CODES] == [116, 101, 104]
    assert len(tree_of(corpus.articles).headings) == 144
    assert [len(corpus.split(split)) for split in SPLITS] == [261, 79, 103]
    assert sum(len(question.article_ids) for question in corpus.questions) == 654


def test_manifest_says_what_it_is_and_holds_its_hash(corpus):
    manifest = read_manifest(sample_folder())
    assert (corpus.name, corpus.language, corpus.licence) == ("valmere", "en", "CC0-1.0")
    assert manifest["source"] == "written for statgraph; the Republic of Valmere does not exist"
    assert manifest["content_hash"] == corpus.content_hash


def test_first_tenth_and_last_article(corpus):
    first, tenth, last = corpus.articles[0], corpus.articles[9], corpus.articles[-1]
    assert (first.article_id, first.title, first.order) == ("H1", "Art. 1, Housing Code", 1)
    assert first.path == (
        "Housing Code",
        "Book I. General rules",
        "Chapter 1. Scope and meanings",
        "Section 1. Scope",
    )
    assert first.text.startswith("This Code governs the letting, shared ownership, sale and safety of dwellings")
    assert (tenth.article_id, tenth.path[-1]) == ("H10", "Section 1. General provisions")
    assert tenth.text.startswith("Where an inspection report under Article 9 discloses a danger to health or safety")
    assert (last.article_id, last.title) == ("F104", "Art. 104, Family Code")
    assert last.text.startswith("(1) Hearings in family matters are not public")


def test_every_reference_to_an_article_resolves(corpus):
    known = {(article.code, article.order) for article in corpus.articles}
    references = [
        (article.article_id, named_code or article.code, int(number))
        for article in corpus.articles
        for numbers, named_code in REFERENCE.findall(article.text)
        for number in re.findall(r"\d+", PARAGRAPH.sub("", numbers))
    ]
    assert len(references) >= 190
    assert [reference for reference in references if reference[1:] not in known] == []
    assert sum(article_id[0] != code[0] for article_id, code, _ in references) >= 20


def test_questions_stand_in_the_split_of_their_hash_and_name_their_code(corpus):
    assert all(question.split == split_of(question.question_id) for question in corpus.questions)
    assert all(question.metadata["topic"][0] == question.question_id[1] for question in corpus.questions)
    assert {question.metadata["topic"] for question in corpus.questions} == set(CODES)


def test_bm25_finds_some_but_not_all(corpus):
    index = BM25([article_text(article) for article in corpus.articles], language=corpus.language)
    recalls = [
        np.isin(rows, index.ranking(question.text, 10)[0]).mean()
        for question, rows in zip(corpus.questions, corpus.label_rows(corpus.questions), strict=True)
    ]
    assert 0.40 <= np.mean(recalls) <= 0.75
    assert np.mean(recalls) == pytest.approx(0.452, abs=0.002)  # as data/README.md says


def test_installed_sample_is_found_without_a_checkout(tmp_path, monkeypatch):
    installed = tmp_path / "prefix" / "share" / "statgraph" / "sample"
    installed.mkdir(parents=True)
    (installed / "manifest.json").write_text("{}")
    monkeypatch.setattr(sample, "__file__", str(tmp_path / "site-packages" / "statgraph" / "corpus" / "catalogue.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    assert sample_folder() == installed


def test_a_missing_sample_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "_candidates", lambda: iter([tmp_path / "a", tmp_path / "b", tmp_path / "a"]))
    with pytest.raises(CorpusError, match=rf"sample corpus: .*{tmp_path / 'a'}, {tmp_path / 'b'}; "):
        sample_folder()
