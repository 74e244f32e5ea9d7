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
    assert library.among(codes=["Housing Code"], heading_id=leases).tolist() == [0, 1, 2]
    with pytest.raises(UsageError, match="there is none with this id"):
        library.among(heading_id="x")


def test_a_damaged_run_is_refused(village_run, tmp_path):
    for path in village_run.iterdir():
        if path.name != "articles.offsets.npy":
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(RunError, match="train it again"):
        Library.load(tmp_path, device="cpu")
