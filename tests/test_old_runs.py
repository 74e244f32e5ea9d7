"""Runs of format 1, trained on the town by commit bdb7073 (tests/runs/format1), still answer."""

import shutil

import numpy as np
import pytest

from statgraph import Retriever, artifacts, export
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.evaluating import evaluate_split
from statgraph.runs import parts
from statgraph.runs.run import FORMAT, Run
from statgraph.systems.model_card import read_run_report
from statgraph.systems.updating.update import update_run

SYSTEMS = ("bm25", "qabisar")
QUESTIONS = ("May I keep my lamps and wells?", "Are dogs taxed?")


@pytest.fixture(params=SYSTEMS)
def old_run(request, tmp_path, pytestconfig):
    """Return a copy of a run of format 1."""
    return shutil.copytree(pytestconfig.rootpath / "tests" / "runs" / "format1" / request.param, tmp_path / "old")


def test_it_finds_what_it_found(old_run, pytestconfig):
    answers = artifacts.read_json(pytestconfig.rootpath / "tests" / "runs" / "format1" / "answers.json")
    system = Run.read(old_run).config.system
    for question, expected in zip(QUESTIONS, answers[system], strict=True):
        hits = Retriever.load(old_run, device="cpu").search(question, 5)
        assert [hit.article_id for hit in hits] == [article_id for article_id, _ in expected]
        assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], abs=2e-6)


def test_its_metrics_are_those_of_its_report(old_run, town_corpus):
    Run.read(old_run).check_corpus(town_corpus)
    retriever = Retriever.load(old_run, device="cpu")
    report = evaluate_split(retriever, town_corpus, "dev", rng=np.random.default_rng(0))
    old = read_run_report(old_run)
    assert old.strata.keys() == report.strata.keys()
    for name, stratum in old.strata.items():
        now = report.strata[name].metrics
        shared = set(stratum.metrics) & set(now)  # R@100 is now left out of so small a law
        assert not now or {"mAP", "mRP", "nDCG@10", "MRR@10"} <= shared
        for metric in shared:  # intervals are drawn metric by metric, and there were others before
            assert stratum.metrics[metric].mean == pytest.approx(now[metric].mean)


def test_its_hits_are_explained(old_run):
    retriever = Retriever.load(old_run, device="cpu")
    hits = retriever.search(QUESTIONS[0], 3)
    for hit, why in zip(hits, retriever.explain(QUESTIONS[0], hits), strict=True):
        assert (why.score, why.note) == (pytest.approx(hit.score, abs=1e-5), "")
        assert why.terms or Run.read(old_run).kind.has_encoder


def test_an_update_makes_it_one_of_the_present_format(old_run, town_corpus):
    assert "format" not in artifacts.read_json(old_run / artifacts.MANIFEST)
    expected = Retriever.load(old_run, device="cpu").search(QUESTIONS[0], 5)
    update_run(old_run, town_corpus, full=True)
    run = Run.read(old_run)
    assert (artifacts.read_json(old_run / artifacts.MANIFEST)["format"], len(run.updates)) == (FORMAT, 1)
    assert run.lexical_index.is_dir() != run.kind.has_encoder
    hits = Retriever.load(old_run, device="cpu").search(QUESTIONS[0], 5)
    assert [hit.article_id for hit in hits] == [hit.article_id for hit in expected]


def test_it_is_exported(old_run, town_corpus, tmp_path):
    export(old_run, "graphml", tmp_path / "law.graphml")
    export(town_corpus, "beir", tmp_path / "beir", ranked_by=old_run, split="test")
    assert (tmp_path / "beir" / "runs" / "test.trec").stat().st_size
    if Run.read(old_run).kind.has_encoder:
        export(old_run, "sentence-transformers", tmp_path / "encoder")
        assert export(old_run, "faiss", tmp_path / "faiss").about.endswith("(flat)")
        vectors = ArticleIndex.load(old_run / parts.INDEX, device="cpu").vectors
        assert (np.load(tmp_path / "encoder" / "articles" / "vectors.npy") == vectors).all()
