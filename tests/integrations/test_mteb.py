"""A run and a corpus as MTEB takes them. It is too heavy for requirements.txt: docs/integrations.md has the command."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mteb", reason="the extra 'mteb' is run in an environment of its own")

import mteb

from statgraph import Retriever, export
from statgraph.config import RunConfig
from statgraph.encoders.article_text import article_texts
from statgraph.errors import RunError, UsageError
from statgraph.evaluation.metrics import ndcg, recall, reciprocal_rank
from statgraph.formats.catalogue.catalogue import CATALOGUE
from statgraph.integrations.mteb import StatgraphSearch, StatgraphTask
from statgraph.law.catalogue import sample_folder
from statgraph.law.records import Article, Corpus, Question
from statgraph.law.store import read_corpus, write_corpus


@pytest.fixture(scope="module")
def sample():
    return read_corpus(sample_folder())


def scores_of(model, task):
    """Return what MTEB measures on the one split of a task."""
    (result,) = mteb.evaluate(model, task, cache=None, show_progress_bar=False).task_results
    ((scores,),) = result.scores.values()
    return scores


def measured(rankings, corpus, split):
    """Return the means of our metrics over the questions of a split, under MTEB's names."""
    labels = [set(rows) for rows in corpus.label_rows(corpus.split(split))]
    found = [
        (np.array([row in wanted for row in ranked.tolist()]), len(wanted))
        for ranked, wanted in zip(rankings, labels, strict=True)
    ]
    return {
        "ndcg_at_10": np.mean([ndcg(*of_question, cut=10) for of_question in found]),
        "recall_at_10": np.mean([recall(*of_question, cut=10) for of_question in found]),
        "recall_at_100": np.mean([recall(*of_question, cut=100) for of_question in found]),
        "mrr_at_10": np.mean([reciprocal_rank(*of_question, cut=10) for of_question in found]),
    }


def check_equal(scores, expected):
    assert {name: scores[name] for name in expected} == pytest.approx(expected, abs=1e-5)  # MTEB rounds


def test_the_figures_of_a_retriever_are_those_of_evaluate(sample_run, sample):
    rows, _ = Retriever.load(sample_run.folder).rank([question.text for question in sample.split("dev")], 500)
    expected = measured(rows, sample, "dev")
    assert expected["ndcg_at_10"] > 0.2
    check_equal(scores_of(StatgraphSearch(sample_run.folder), StatgraphTask(sample, ["dev"])), expected)


def test_an_exported_encoder_is_scored_as_any_other(sample_run, sample, tmp_path):
    from sentence_transformers import SentenceTransformer

    export(sample_run, "sentence-transformers", tmp_path / "encoder")
    encoder = SentenceTransformer(str(tmp_path / "encoder"), device="cpu")
    articles = encoder.encode(article_texts(sample.articles))
    questions = encoder.encode([question.text for question in sample.split("test")])
    rankings = np.argsort(-encoder.similarity(questions, articles).numpy(), axis=1, kind="stable")
    expected = measured(rankings, sample, "test")
    assert expected["ndcg_at_10"] > 0.2
    check_equal(scores_of(encoder, StatgraphTask(sample)), expected)


@pytest.fixture
def alike(write_run, tmp_path):
    """Return a law whose articles all have one score, its question answered by the first, and its run."""
    path = ("Code", "Title")
    articles = tuple(Article(f"{number:02}", f"Art. {number}", "Same.", path, number) for number in range(30, 0, -1))
    corpus = Corpus("alike", "en", "CC0", "written", articles, (Question("q", "same", "test", ("30",)),))
    return corpus, write_run(tmp_path / "run", corpus, RunConfig(system="bm25", retriever="bm25"))


def test_articles_of_one_score_keep_their_order(alike):
    corpus, run = alike
    rows, scores = Retriever.load(run).rank(["same"], 30)
    assert len(set(scores[0].tolist())) == 1
    check_equal(scores_of(StatgraphSearch(run), StatgraphTask(corpus)), measured(rows, corpus, "test"))


def test_a_run_of_other_articles_is_refused(alike, sample):
    _, run = alike
    with pytest.raises(RunError, match="name a run of the task's corpus"):
        scores_of(StatgraphSearch(run), StatgraphTask(sample))


def test_what_a_task_cannot_be_made_of_is_refused(sample, alike):
    with pytest.raises(UsageError, match="split 'tset'"):
        StatgraphTask(sample, ["tset"])
    greek = replace(alike[0], language="el")
    with pytest.raises(UsageError, match="eng-Latn"):
        StatgraphTask(greek)
    assert StatgraphTask(greek, language="ell-Grek").metadata.eval_langs == ["ell-Grek"]


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_corpus_of_the_catalogue_is_a_task(alike, name):
    metadata = StatgraphTask(replace(alike[0], name=name, language=CATALOGUE[name].language)).metadata
    assert (metadata.name, len(metadata.eval_langs)) == (f"{name}StatuteRetrieval", 1)


def test_the_example_of_the_docs_runs_as_it_stands(doc_example, sample_run, sample, tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine").symlink_to(sample_run.folder)
    write_corpus(sample, tmp_path / "corpora" / "mine")
    monkeypatch.chdir(tmp_path)
    scores = doc_example("integrations.md", "MTEB")["scores"]
    rows, _ = Retriever.load("runs/mine").rank([question.text for question in sample.split("dev")], 500)
    assert scores["ndcg_at_10"] == pytest.approx(measured(rows, sample, "dev")["ndcg_at_10"], abs=1e-5)
