"""A run as the service holds it."""

import pytest

from statgraph.errors import RunError, UsageError
from statgraph.service.contents import heading_id_of
from statgraph.service.library import Library


def test_what_a_run_is_called(library):
    assert (library.name, library.corpus, library.language) == ("village-run", "village", "en")
    assert library.examples == ["Who keeps the deposit?", "When are wages paid?"]


def test_articles_by_row(library, village):
    assert library.article(2).text == village.articles[2].text


def test_limits_are_rows_of_articles(library):
    leases = heading_id_of(("Housing Code", "Book I. Leases"))
    assert library.among() is None
    assert not library.has_dates
    assert library.among(codes=["Housing Code"], heading_id=leases).rows.tolist() == [0, 1, 2]
    with pytest.raises(UsageError, match="there is none with this id"):
        library.among(heading_id="x")


def test_a_day_limits_the_articles_to_those_in_force(village_run, dated_run):
    dates = {"H1": {"valid_from": "2001-01-01"}, "H2": {"valid_to": "2001-01-01"}, "W5": {"valid_to": "9999-01-01"}}
    library = Library.load(dated_run(village_run, dates), device="cpu")
    assert library.has_dates
    assert [library.validity(row) for row in range(3)] == [("2001-01-01", None), (None, "2001-01-01"), (None, None)]
    assert library.among(as_of="2000-12-31").rows.tolist() == [1, 2, 3, 4]
    assert library.among(as_of="2001-01-01").rows.tolist() == library.among().rows.tolist() == [0, 2, 3, 4]
    assert library.among(codes=["Housing Code"], as_of="2000-12-31").rows.tolist() == [1, 2]
    (hits,) = library.search_many(["notice of leases"], 5, among=library.among(as_of="2000-12-31"))
    assert hits[0].article_id == "H2"
    assert len(hits) == 4


def test_after_warming_up_nothing_is_made_at_the_first_explanation(village_run, monkeypatch):
    library, made = Library.load(village_run, device="cpu"), []
    make = library._retriever._make_explainer
    monkeypatch.setattr(library._retriever, "_make_explainer", lambda: made.append(1) or make())
    library.warm_up(lambda: True)
    assert made == []
    library.warm_up(lambda: False)
    library.warm_up(lambda: False)
    assert made == [1]
    (hits,) = library.search_many(["deposit"], 1)
    assert library.explain("deposit", hits)[0].article_id == "H1"
    assert made == [1]
    assert library.surroundings.references.refers_to(1) == (0, 3)


def test_a_damaged_run_is_refused(village_run, tmp_path):
    for path in village_run.iterdir():
        if path.name != "articles.offsets.npy":
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(RunError, match="train it again"):
        Library.load(tmp_path, device="cpu")
