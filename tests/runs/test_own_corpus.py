from dataclasses import replace

import pytest

from statgraph.errors import RunError
from statgraph.law.records import Article, CitingText, Corpus, Question
from statgraph.runs.article_store import write_article_store
from statgraph.runs.own_corpus import own_corpus, write_training_texts
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.systems.presets import resolve_config

ARTICLES = (
    Article("a", "Art. 1", "Dogs are taxed.", ("Dog Code",), 0, {"valid_from": "2020-01-01"}, "1", "Tax"),
    Article("b", "Art. 1", "Cats are free.", ("Cat Code", "Book I"), 0),
    Article("c", "Art. 2", "Dogs are leashed.", ("Dog Code",), 1),
)
QUESTIONS = (
    Question("q1", "Is my dog taxed?", "train", ("a",)),
    Question("q2", "Is my cat taxed?", "test", ("b",)),
    Question("q3", "leash", "train", ("c",), {"set": "headings"}),
)
CITING = (
    CitingText("c1", "Guide", "What dogs cost you.", ("a",), "q1", "section"),
    CitingText("c2", "Guide", "What cats cost you.", ("b",), "q2"),
)
TOWN = Corpus("town", "en", "CC0", "written for the tests", ARTICLES, QUESTIONS, CITING)


def written(folder, system) -> RunFolder:
    write_article_store(ARTICLES, folder)
    data = {"licence": TOWN.licence, "source": TOWN.source}
    return RunFolder(folder, resolve_config(system, ["device=cpu"]), CorpusFacts.of(TOWN), data)


def test_an_ensemble_holds_its_corpus_but_for_dev_and_test(tmp_path):
    run = written(tmp_path, "ensemble")
    write_training_texts(TOWN, tmp_path)
    seen = replace(TOWN, questions=(QUESTIONS[0], QUESTIONS[2]), citing=CITING[:1])
    assert own_corpus(run) == seen
    assert own_corpus(run).content_hash == seen.content_hash
    assert own_corpus(run).articles[0].metadata == {"valid_from": "2020-01-01"}
    assert "cat" not in (tmp_path / "questions.jsonl").read_text()


def test_a_run_of_one_system_needs_its_articles_alone(tmp_path):
    assert own_corpus(written(tmp_path, "bm25")) == replace(TOWN, questions=(), citing=())


def test_an_ensemble_with_damaged_questions_is_refused(tmp_path):
    run = written(tmp_path, "ensemble")
    (tmp_path / "questions.jsonl").write_text("[1, 2")
    with pytest.raises(RunError, match=r"questions\.jsonl: not readable"):
        own_corpus(run)
