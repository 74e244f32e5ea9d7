"""A run as the service holds it, and the graph around its articles."""

import hashlib

import pytest

from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.graph.relations import ARTICLE, HEADING, QUESTION
from statgraph.law.records import Article, Corpus, Question
from statgraph.retrieval.search import explaining
from statgraph.retrieval.search.explaining import Explainer
from statgraph.runs.article_store import ArticleStore, write_article_store
from statgraph.service.loaded_run import ArticleGraph, LoadedRun, heading_id_of, law_names

LEASES_PATH, WAGES_PATH = ("Housing Code", "Book I. Leases"), ("Work Code", "Book I. Leases")
H1, H2, H3, W5, W6 = ((ARTICLE, row) for row in range(5))
HOUSING, LEASES, KEYS, WORK, WAGES = ((HEADING, row) for row in range(5))
Q1, Q2 = ((QUESTION, row) for row in range(2))


def test_the_id_of_a_heading_is_of_its_whole_path(loaded_run):
    expected = hashlib.sha256(b"Work Code\x1fBook I. Leases").hexdigest()[:12]
    assert heading_id_of(WAGES_PATH) == expected != heading_id_of(LEASES_PATH)
    assert [loaded_run.heading_rows[heading_id] for heading_id in loaded_run.heading_ids] == [0, 1, 2, 3, 4]
    assert loaded_run.heading_path(expected) == WAGES_PATH
    with pytest.raises(UsageError, match="no heading has this id"):
        loaded_run.heading_path("0" * 12)


def test_after_warming_up_nothing_is_made_at_the_first_explanation(village_run, monkeypatch):
    made = []
    monkeypatch.setattr(explaining, "Explainer", lambda *given: made.append(1) or Explainer(*given))
    loaded_run = LoadedRun(village_run, device="cpu")
    loaded_run.warm_up(lambda: True)
    assert made == []
    loaded_run.warm_up(lambda: False)
    loaded_run.warm_up(lambda: False)
    assert made == [1]
    hits = loaded_run.retriever.search("deposit", 1)
    assert loaded_run.retriever.explain("deposit", hits)[0].article_id == "H1"
    assert made == [1]


def test_without_training_questions_the_examples_are_what_a_search_finds(tmp_path, write_run):
    def article(number, rubric, text, heading="TITLE II Trade of the market"):
        return Article(f"M{number}", f"Art. {number}", text, ("Market Act", heading), number, {}, "", rubric)

    articles = (
        article(1, "Hours of opening", "From eight to noon."),
        article(
            2, "Return of keys", "At noon, in a long list of places and persons that has no end and no use at all."
        ),
        article(3, "Lost", "Return of keys, return of keys, return of keys."),  # is found for the rubric above it
        article(4, "STALLS AND TENTS", "Stalls are tents."),
        article(5, "Fees of 2021", "None."),
    )
    corpus = Corpus("market", "en", "CC0", "written for the tests", articles, ())
    run = write_run(tmp_path / "run", corpus, RunConfig(system="bm25", retriever="bm25"), n_headings=2)
    assert LoadedRun(run, device="cpu").examples == ["Hours of opening", "Trade of the market"]


def test_a_text_names_the_version_in_force_and_versions_come_by_their_dates(tmp_path, write_run):
    def article(article_id, title, text, **dates):
        return Article(article_id, title, text, ("Code",), 0, dates)

    articles = (
        article("new", "Art. 1", "New.", valid_from="2021-01-01"),
        article("old", "Art. 1", "Old.", valid_to="2021-01-01"),
        article("other", "Art. 2", "See article 1, and article 3."),
    )
    corpus = Corpus("code", "en", "CC0", "written for the tests", articles, ())
    run = write_run(tmp_path / "run", corpus, RunConfig(system="bm25", retriever="bm25"), n_headings=1)
    loaded_run = LoadedRun(run, device="cpu")
    assert [loaded_run.versions(row) for row in range(3)] == [[1, 0], [1, 0], [2]]
    assert loaded_run.mentions(2, "See article 1, and article 3.") == [(4, 13, 0)]
    assert loaded_run.mentions(1, "See article 1.") == []
    assert loaded_run.mentions(2, "See article 1, cafe\u0301.") == []


@pytest.fixture
def graph(loaded_run):
    return loaded_run.graph


def test_one_hop(graph):
    found = graph.neighbourhood(3, hops=1)
    assert list(found.hops.items()) == [(W5, 0), (WAGES, 1), (H2, 1), (W6, 1), (Q2, 1)]
    assert found.edges == (
        (WAGES, W5, "contains_article"),
        (H2, W5, "refers_to"),
        (W6, W5, "refers_to"),
        (Q2, W5, "cites"),
        (WAGES, W6, "contains_article"),
    )
    assert not found.cut


def test_hops_count_the_shortest_way(graph):
    hops = graph.neighbourhood(2, hops=3).hops
    assert hops == {H3: 0, KEYS: 1, Q1: 1, LEASES: 2, H1: 2, HOUSING: 3, H2: 3}


def test_the_nearest_nodes_are_kept_where_there_are_too_many(graph):
    found = graph.neighbourhood(3, hops=2, most=3)
    assert list(found.hops) == [W5, WAGES, H2]
    assert found.cut
    assert set(found.edges) == {(WAGES, W5, "contains_article"), (H2, W5, "refers_to")}


def test_siblings_come_by_how_near_they_stand(tmp_path):
    articles = [Article(f"A{row}", f"Art. {row}", "Text.", ("Code",), row) for row in range(200)]
    write_article_store(articles, tmp_path)
    found = ArticleGraph(ArticleStore(tmp_path), {}, ()).neighbourhood(100, hops=2)
    assert len(found.hops) == 150
    assert found.cut
    assert sorted(row for kind, row in found.hops if kind == ARTICLE) == list(range(26, 175))


def test_articles_that_are_not_there_are_passed_over(loaded_run):
    questions = [Question("q", "?", "train", ("H9", "H1"))]
    edges = ArticleGraph(loaded_run.articles, loaded_run.article_rows, questions).neighbourhood(0, hops=2).edges
    assert [edge for edge in edges if edge[2] == "cites"] == [(Q1, H1, "cites")]


def test_a_law_is_called_as_its_corpus_and_another_of_that_name_as_its_folder(village_run, train_town, tmp_path):
    other, third = tmp_path / "2026-11", tmp_path / "third" / "2026-11"
    third.parent.mkdir()
    for link in (other, third):
        link.symlink_to(village_run)
    assert law_names([village_run, train_town("bm25"), other]) == ["village", "town", "2026-11"]
    with pytest.raises(UsageError, match=r"^run .*third/2026-11: another law is called '2026-11' already"):
        law_names([village_run, other, third])
