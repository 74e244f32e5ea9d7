import numpy as np
import pytest

from statgraph.corpus.records import Article
from statgraph.errors import RunError
from statgraph.search.article_dates import DATES, read_article_dates, rows_in_force, write_article_dates
from statgraph.search.article_store import ArticleStore, write_article_store


def articles(*dates: dict) -> list[Article]:
    return [Article(f"L{row}", "", "text", ("Code",), row, metadata) for row, metadata in enumerate(dates)]


def test_an_article_is_in_force_from_its_first_day_up_to_its_last(tmp_path):
    write_article_dates(articles({"valid_from": "0001-01-03", "valid_to": "0001-01-05"}, {}), tmp_path)
    days = read_article_dates(tmp_path, 2)
    assert days.tolist() == [[3, 5], [0, 2**31 - 1]]
    assert [rows_in_force(days, day).rows.tolist() for day in (2, 3, 4, 5)] == [[1], [0, 1], [0, 1], [1]]


def test_without_dates_there_is_no_file_and_an_old_one_goes(tmp_path):
    write_article_dates(articles({"valid_to": "2026-01-31"}), tmp_path)
    assert (tmp_path / DATES).is_file()
    write_article_dates(articles({}, {"etat": "VIGUEUR"}), tmp_path)
    assert not (tmp_path / DATES).exists()
    assert read_article_dates(tmp_path, 2) is None


def test_a_damaged_file_or_one_of_other_articles_is_refused(tmp_path):
    np.save(tmp_path / DATES, np.zeros((3, 2), dtype=np.int32))
    with pytest.raises(RunError, match=r"int32 of shape \(3, 2\) for 2 articles; train the run again"):
        read_article_dates(tmp_path, 2)
    (tmp_path / DATES).write_bytes(b"x")
    with pytest.raises(RunError, match=r"articles\.dates\.npy: not readable \(.*\); train the run again"):
        read_article_dates(tmp_path, 2)


def test_the_rows_of_a_day_are_made_once(tmp_path):
    write_article_store(articles({"valid_from": "0001-01-03", "valid_to": "0001-01-05"}, {}), tmp_path)
    store = ArticleStore(tmp_path)
    assert store.in_force(2).rows.tolist() == [1]
    assert store.in_force(2) is store.in_force(2)
    assert store.in_force(3) is None  # every article
