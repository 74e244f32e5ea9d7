"""A run as the service holds it."""

import hashlib
from dataclasses import replace

import pytest

from statgraph.corpus.query import Query
from statgraph.errors import RunError, UsageError
from statgraph.search import explaining
from statgraph.search.explaining import LexicalExplainer
from statgraph.service.loaded_run import LoadedRun, heading_id_of

LEASES, WAGES = ("Housing Code", "Book I. Leases"), ("Work Code", "Book I. Leases")


def test_a_day_limits_the_articles_to_those_in_force(village_run, dated_run):
    dates = {"H1": {"valid_from": "2001-01-01"}, "H2": {"valid_to": "2001-01-01"}, "W5": {"valid_to": "9999-01-01"}}
    loaded_run = LoadedRun(dated_run(village_run, dates), device="cpu")
    assert loaded_run.retriever.has_dates
    assert [loaded_run.validity(row) for row in range(3)] == [("2001-01-01", None), (None, "2001-01-01"), (None, None)]
    query = Query("notice of leases", 5, as_of="2000-12-31")
    allowed = loaded_run.retriever.allowed
    assert allowed(query).rows.tolist() == [1, 2, 3, 4]
    for day in ("2001-01-01", "today"):
        assert allowed(replace(query, as_of=day)).rows.tolist() == [0, 2, 3, 4]
    assert allowed(replace(query, codes=["Housing Code"])).rows.tolist() == [1, 2]
    assert [hit.article_id for hit in loaded_run.retriever.search(query)][:1] == ["H2"]


def test_the_id_of_a_heading_is_of_its_whole_path(loaded_run):
    expected = hashlib.sha256(b"Work Code\x1fBook I. Leases").hexdigest()[:12]
    assert heading_id_of(WAGES) == expected != heading_id_of(LEASES)
    assert [loaded_run.heading_rows[heading_id] for heading_id in loaded_run.heading_ids] == [0, 1, 2, 3, 4]
    assert loaded_run.heading_path(expected) == WAGES
    with pytest.raises(UsageError, match="no heading has this id"):
        loaded_run.heading_path("0" * 12)


def test_before_and_after_within_a_code(loaded_run):
    assert [loaded_run.beside(row) for row in range(5)] == [(None, 1), (0, 2), (1, None), (None, 4), (3, None)]


def test_after_warming_up_nothing_is_made_at_the_first_explanation(village_run, monkeypatch):
    made = []
    monkeypatch.setattr(explaining, "LexicalExplainer", lambda *given: made.append(1) or LexicalExplainer(*given))
    loaded_run = LoadedRun(village_run, device="cpu")
    loaded_run.warm_up(lambda: True)
    assert made == []
    loaded_run.warm_up(lambda: False)
    loaded_run.warm_up(lambda: False)
    assert made == [1]
    hits = loaded_run.retriever.search("deposit", 1)
    assert loaded_run.retriever.explain("deposit", hits)[0].article_id == "H1"
    assert made == [1]


def test_a_run_that_has_not_saved_its_structure_makes_it(village_run, linked_run):
    loaded_run = LoadedRun(linked_run(village_run, without="structure.npz"), device="cpu")
    assert loaded_run.surroundings.refers_to(1) == [0, 3]


def test_a_damaged_run_is_refused(village_run, linked_run):
    with pytest.raises(RunError, match="train it again"):
        LoadedRun(linked_run(village_run, without="articles.offsets.npy"), device="cpu")
