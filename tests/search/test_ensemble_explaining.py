"""Why an ensemble found what it found, on an ensemble of the town."""

from dataclasses import replace

import numpy as np
import pytest

from statgraph import Retriever
from statgraph.errors import UsageError
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config

QUESTION = "Who taxes my bridges?"


@pytest.fixture(scope="module")
def run(tmp_path_factory, town_corpus):
    """Return the folder of an ensemble without members, whose articles cite one another: look, do not touch."""
    first, *others = town_corpus.articles
    corpus = replace(town_corpus, articles=(replace(first, text="Lamps: see Art. 2 on bridges."), *others))
    config = resolve_config("ensemble", ["device=cpu", "ensemble.members=none", "ranker.kind=fixed"])
    return train_run(corpus, config, tmp_path_factory.mktemp("runs") / "run").folder


@pytest.fixture(scope="module")
def retriever(run):
    return Retriever.load(run, device="cpu")


@pytest.mark.parametrize("among", [None, np.array([0, 3, 5, 10, 11])])
def test_contributions_add_up_to_the_score_of_the_search(retriever, among):
    hits = retriever.search(QUESTION, among=among)
    assert len(hits) >= 4
    for hit, why in zip(hits, retriever.explain(QUESTION, hits, among=among), strict=True):
        assert (why.article_id, why.score, why.note) == (hit.article_id, hit.score, "")
        assert sum(part.amount for part in why.contributions) == pytest.approx(hit.score, abs=1e-4)


def test_a_contribution_names_the_article_that_lends_it(retriever):
    hits = retriever.search(QUESTION)
    best = hits[0]
    assert best.article_id == "bridges2"
    whys = {why.article_id: why for why in retriever.explain(QUESTION, hits)}
    (words,) = [part for part in whys["bridges2"].contributions if part.source == "bm25"]
    assert (words.rank, words.article_id, words.title) == (1, None, "")
    lent = {part.source: part for part in whys["fences2"].contributions}
    assert (lent["section"].rank, lent["section"].article_id, lent["section"].title) == (1, "bridges2", best.title)


def test_terms_are_those_of_the_signal(retriever):
    hits = retriever.search(QUESTION)
    why = retriever.explain(QUESTION, hits)[0]
    assert {term.term for term in why.terms} >= {"bridges"}
    assert why.bm25_score == pytest.approx(sum(term.weight for term in why.terms))


def test_a_hit_of_another_search_says_so(retriever):
    hits = retriever.search(QUESTION)
    (why, other) = retriever.explain(QUESTION, [hits[0], hits[1]], among=np.array([0, 3]))
    assert (why.contributions, other.contributions) == ((), ())
    assert "another search" in why.note
    (why,) = retriever.explain(QUESTION, [replace(hits[0], score=0.5)])
    assert "another search" in why.note


def test_hits_are_of_the_run_and_each_there_once(retriever):
    hit = retriever.search(QUESTION)[0]
    assert retriever.explain(QUESTION, []) == []
    retriever.prepare_explanations()
    with pytest.raises(UsageError, match="twice"):
        retriever.explain(QUESTION, [hit, hit])
    with pytest.raises(UsageError, match="not in the run"):
        retriever.explain(QUESTION, [replace(hit, article_id="Z9")])
