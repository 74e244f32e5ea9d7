"""Why a run found what it found, on runs of the town and the fixtures' runs without a graph."""

import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from statgraph import Retriever
from statgraph.errors import UsageError
from statgraph.law.query import Query
from statgraph.retrieval.search import explaining
from statgraph.retrieval.search.hits import ITSELF
from statgraph.runs import parts
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config

BRIDGES = "Who taxes my bridges?"
QUESTION = "May I keep my lamps and wells?"


@pytest.fixture(scope="module")
def graph_run(train_town):
    """Return a run of QABISAR on the town: look, do not touch."""
    return train_town("qabisar")


@pytest.fixture(scope="module")
def explained(graph_run):
    """Return (hits, explanations) of all articles of the town."""
    retriever = Retriever.load(graph_run, device="cpu")
    hits = retriever.search(QUESTION, k=16)
    return hits, retriever.explain(QUESTION, hits)


def test_the_score_of_the_own_text_is_that_of_the_vector_before_the_graph(graph_run, explained, town_corpus):
    hits, explanations = explained
    own_vectors = np.load(graph_run / parts.GRAPH_INPUTS / "article.npy")
    query = Retriever.load(graph_run, device="cpu")._ranker.encoder.encode([QUESTION])[0]
    expected = [own_vectors[town_corpus.article_rows[hit.article_id]] @ query for hit in hits]
    assert [why.own_text_score for why in explanations] == pytest.approx(expected, abs=1e-6)
    assert any(abs(why.own_text_score - why.score) > 1e-4 for why in explanations)


def test_attention_is_over_the_neighbours_and_adds_up_to_one(explained):
    for why in explained[1]:
        thing, number = why.article_id[:-1], why.article_id[-1]
        book = ("Town Code", "Book I. Rights" if number == "1" else "Book II. Duties")
        expected = {("article", why.article_id, ITSELF, ()), ("heading", " > ".join(book), "contains_article", book)}
        if number == "1":  # the training questions cite the first article of each thing
            expected.add(("question", f"train-{thing}", "cites", ()))
        found = {(near.kind, near.node_id, near.relation, near.path) for near in why.neighbours}
        assert found == expected
        assert len(why.neighbours) == len(expected)
        assert sum(near.weight for near in why.neighbours) == pytest.approx(1, abs=1e-6)
        assert all(0 <= near.least <= near.weight <= near.most <= 1 for near in why.neighbours)
        weights = [near.weight for near in why.neighbours]
        assert weights == sorted(weights, reverse=True)


def test_neighbours_are_named_as_readers_know_them(explained):
    lamps = next(why for why in explained[1] if why.article_id == "lamps1")
    titles = {near.kind: near.title for near in lamps.neighbours}
    assert titles == {"article": "Art. 1 on lamps", "heading": "Book I. Rights", "question": "May I keep my lamps?"}


def test_without_its_questions_an_article_scores_otherwise(explained):
    for why in explained[1]:
        if why.article_id.endswith("2"):
            assert why.without_questions_score is None
        else:
            assert abs(why.without_questions_score - why.score) > 1e-5


def test_terms_add_up_to_the_score_of_bm25(explained, tmp_path, town_corpus):
    folder = train_run(town_corpus, resolve_config("bm25", ["device=cpu"]), tmp_path / "bm25").folder
    scores = {hit.article_id: hit.score for hit in Retriever.load(folder).search(QUESTION, k=16)}
    for why in explained[1]:
        assert why.bm25_score == pytest.approx(sum(term.weight for term in why.terms))
        assert why.bm25_score == pytest.approx(scores.get(why.article_id, 0), abs=1e-5)
    lamps = next(why for why in explained[1] if why.article_id == "lamps1")
    assert [term.term for term in lamps.terms] == ["lamps"]


def test_bm25_explains_its_words_alone(bm25_run):
    retriever = Retriever.load(bm25_run)
    hits = retriever.search("deposit keys", k=3)
    for hit, why in zip(hits, retriever.explain("deposit keys", hits), strict=True):
        assert sum(term.weight for term in why.terms) == pytest.approx(hit.score, abs=1e-6)
        assert why == replace(why, score=hit.score, own_text_score=None, neighbours=(), note="")


def test_a_corrected_word_is_explained_as_the_laws(bm25_run):
    retriever = Retriever.load(bm25_run)
    hits = retriever.search("keys", 1)
    assert retriever.search("kesy", 1) == hits
    (typed,), (corrected,) = (retriever.explain(question, hits) for question in ("keys", "kesy"))
    assert [part.term for part in corrected.terms] == ["keys"]  # and not its stem
    assert corrected == typed


def test_bm25_explains_without_torch(bm25_run):
    code = (
        "import sys\n"
        "from statgraph import Retriever\n"
        f"retriever = Retriever.load({str(bm25_run)!r})\n"
        "retriever.prepare_explanations()\n"
        "print(len(retriever.explain('deposit', retriever.search('deposit notice', k=2))), 'torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2 False\n", "")


def test_a_run_without_a_graph_scores_by_the_own_text(dense_run):
    retriever = Retriever.load(dense_run, device="cpu")
    hits = retriever.search("deposit", k=3)
    first = retriever.explain("deposit", hits)[0]
    assert (first.article_id, first.score, first.own_text_score, first.neighbours) == ("D1", 1.0, 1.0, ())
    assert [term.term for term in first.terms] == ["deposit"]
    assert first.note == "the run was trained without a graph"


def test_a_run_that_kept_no_inputs_says_so(graph_run, tmp_path):
    folder = shutil.copytree(graph_run, tmp_path / "old")
    shutil.rmtree(folder / parts.GRAPH_INPUTS)
    retriever = Retriever.load(folder, device="cpu")
    hits = retriever.search(QUESTION, k=2)
    for hit, why in zip(hits, retriever.explain(QUESTION, hits), strict=True):
        assert (why.score, why.own_text_score, why.neighbours) == (hit.score, None, ())
        assert why.note.endswith("graph_inputs: missing; train the run again")


def test_inputs_of_another_graph_are_not_taken_for_an_explanation(graph_run, tmp_path):
    folder = shutil.copytree(graph_run, tmp_path / "changed")
    path = folder / parts.GRAPH_INPUTS / "article.npy"
    np.save(path, -np.load(path))
    retriever = Retriever.load(folder, device="cpu")
    hits = retriever.search(QUESTION, k=1)
    (why,) = retriever.explain(QUESTION, hits)
    assert (why.score, why.own_text_score, why.neighbours) == (hits[0].score, None, ())
    assert "where its index gives" in why.note
    assert why.note.endswith("train the run again")


def test_hits_are_of_the_run_and_each_there_once(bm25_run):
    retriever = Retriever.load(bm25_run)
    (hit,) = retriever.search("deposit", k=1)
    with pytest.raises(UsageError, match="a hit occurs twice"):
        retriever.explain("deposit", [hit, hit])
    with pytest.raises(UsageError, match="article 'Z9': not in the run; explain hits of the same run"):
        retriever.explain("deposit", [replace(hit, article_id="Z9")])
    with pytest.raises(UsageError, match="the question is blank; ask something"):
        retriever.explain(" ", [hit])
    assert retriever.explain("deposit", []) == []


@pytest.fixture(scope="module")
def ensemble_run(tmp_path_factory, town_corpus):
    """Return the folder of an ensemble without members, whose articles cite one another: look, do not touch."""
    first, *others = town_corpus.articles
    corpus = replace(town_corpus, articles=(replace(first, text="Lamps: see Art. 2 on bridges."), *others))
    config = resolve_config("ensemble", ["device=cpu", "ensemble.members=none", "ranker.learnt=false"])
    return train_run(corpus, config, tmp_path_factory.mktemp("runs") / "run").folder


@pytest.fixture(scope="module")
def ensemble(ensemble_run):
    return Retriever.load(ensemble_run, device="cpu")


@pytest.mark.parametrize("among", [None, np.array([0, 3, 5, 10, 11])])
def test_contributions_add_up_to_the_score_of_the_search(ensemble, among):
    hits = ensemble.search(BRIDGES, among=among)
    assert len(hits) >= 4
    for hit, why in zip(hits, ensemble.explain(BRIDGES, hits, among=among), strict=True):
        assert (why.article_id, why.score, why.note) == (hit.article_id, hit.score, "")
        assert sum(part.amount for part in why.contributions) == pytest.approx(hit.score, abs=1e-4)


def test_a_contribution_names_the_article_that_lends_it(ensemble):
    hits = ensemble.search(BRIDGES)
    best = hits[0]
    assert best.article_id == "bridges2"
    whys = {why.article_id: why for why in ensemble.explain(BRIDGES, hits)}
    assert {term.term for term in whys["bridges2"].terms} >= {"bridges"}
    assert whys["bridges2"].bm25_score == pytest.approx(sum(term.weight for term in whys["bridges2"].terms))
    (words,) = [part for part in whys["bridges2"].contributions if part.source == "bm25"]
    assert (words.rank, words.article_id, words.title) == (1, None, "")
    lent = {part.source: part for part in whys["fences2"].contributions}
    assert (lent["section"].rank, lent["section"].article_id, lent["section"].title) == (1, "bridges2", best.title)


def test_an_ensemble_ranks_again_as_many_as_were_asked_for(ensemble, monkeypatch):
    asked = []
    monkeypatch.setattr(explaining, "score_parts", lambda *given: asked.append(given[3]) or [()])
    hits = ensemble.search(BRIDGES)
    for query in (Query(BRIDGES, 700), Query(BRIDGES, 1)):
        ensemble.explain(query, hits[2:3])
    assert asked == [700, 3]


def test_a_hit_of_another_search_says_so(ensemble):
    hits = ensemble.search(BRIDGES)
    (why, other) = ensemble.explain(BRIDGES, [hits[0], hits[1]], among=np.array([0, 3]))
    assert (why.contributions, other.contributions) == ((), ())
    assert "another search" in why.note
    (why,) = ensemble.explain(BRIDGES, [replace(hits[0], score=0.5)])
    assert "another search" in why.note
