"""A run as the service holds it."""

import pytest

from statgraph.errors import RunError
from statgraph.search import retriever
from statgraph.search.explaining import Explainer
from statgraph.service.loaded_run import LoadedRun


def test_a_day_limits_the_articles_to_those_in_force(village_run, dated_run):
    dates = {"H1": {"valid_from": "2001-01-01"}, "H2": {"valid_to": "2001-01-01"}, "W5": {"valid_to": "9999-01-01"}}
    loaded_run = LoadedRun(dated_run(village_run, dates), device="cpu")
    assert loaded_run.has_dates
    assert [loaded_run.validity(row) for row in range(3)] == [("2001-01-01", None), (None, "2001-01-01"), (None, None)]
    assert loaded_run.allowed_rows(as_of="2000-12-31").rows.tolist() == [1, 2, 3, 4]
    for day in ("2001-01-01", None):
        assert loaded_run.allowed_rows(as_of=day).rows.tolist() == [0, 2, 3, 4]
    assert loaded_run.allowed_rows(codes=["Housing Code"], as_of="2000-12-31").rows.tolist() == [1, 2]
    (hits,) = loaded_run.search_many(["notice of leases"], 5, among=loaded_run.allowed_rows(as_of="2000-12-31"))
    assert hits[0].article_id == "H2"
    assert len(hits) == 4


def test_after_warming_up_nothing_is_made_at_the_first_explanation(village_run, monkeypatch):
    loaded_run, made = LoadedRun(village_run, device="cpu"), []
    monkeypatch.setattr(retriever, "Explainer", lambda *parts: made.append(1) or Explainer(*parts))
    loaded_run.warm_up(lambda: True)
    assert made == []
    loaded_run.warm_up(lambda: False)
    loaded_run.warm_up(lambda: False)
    assert made == [1]
    (hits,) = loaded_run.search_many(["deposit"], 1)
    assert loaded_run.retriever.explain("deposit", hits)[0].article_id == "H1"
    assert made == [1]
    assert loaded_run.surroundings.references.refers_to(1) == (0, 3)


def test_a_damaged_run_is_refused(village_run, linked_run):
    with pytest.raises(RunError, match="train it again"):
        LoadedRun(linked_run(village_run, without="articles.offsets.npy"), device="cpu")
