from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.law.records import Article
from statgraph.runs.article_store import (
    DATES,
    STRUCTURE,
    ArticleStore,
    StoredArticle,
    write_article_dates,
    write_article_store,
)


@pytest.fixture
def folder(tmp_path, corpus):
    write_article_store(corpus.articles, tmp_path)
    return tmp_path


def test_articles_come_back_in_the_order_asked_for(folder):
    path, store = ("Rent Code", "Book I. Leases"), ArticleStore(folder)
    assert store.read([2, 1]) == [
        StoredArticle("X1", "Art. 3", "Keys are handed back.", path),
        StoredArticle("N1", "Art. 2", "Notice is given in writing.\nIts length: “three months” €", path),
    ]
    assert [article.article_id for article in store.read_all()] == ["D1", "N1", "X1"]
    assert (len(store), store.read([])) == (3, [])


def test_addresses_in_other_laws_are_kept_apart(tmp_path, corpus):
    elsewhere = ["https://law.example/eli/1", "/akn/xx/act/2", 3, "javascript:alert(1)"]
    first, second, third = corpus.articles
    linked = replace(first, metadata={"references_elsewhere": elsewhere})
    odd = replace(second, metadata={"references_elsewhere": "https://law.example"})
    write_article_store([linked, odd, third], tmp_path)
    store = ArticleStore(tmp_path)
    assert [store.addresses(row) for row in range(3)] == [["https://law.example/eli/1"], [], []]
    assert store.read([0]) == [StoredArticle("D1", first.title, first.text, first.path)]


def test_an_opened_store_goes_on_with_its_articles_when_a_new_run_takes_the_place(folder, tmp_path, corpus):
    store = ArticleStore(folder)
    newer = tmp_path / "newer"
    newer.mkdir()
    write_article_store(corpus.articles[::-1], newer)
    for path in newer.iterdir():
        path.replace(folder / path.name)
    assert [article.article_id for article in store.read([0, 2])] == ["D1", "X1"]
    assert [article.article_id for article in ArticleStore(folder).read([0, 2])] == ["X1", "D1"]


OFFSETS = "articles.offsets.npy"


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        (
            "articles.jsonl",
            lambda path: path.write_bytes(path.read_bytes() + b"more\n"),
            r"articles\.jsonl has \d+ bytes where",
        ),
        ("articles.jsonl", Path.unlink, "No such file"),
        (OFFSETS, Path.unlink, "No such file"),
        *(
            (OFFSETS, lambda path, kept=kept: path.write_bytes(path.read_bytes()[:kept]), "not readable")
            for kept in (0, 5, 90, -3)
        ),
        *(
            (OFFSETS, lambda path, values=values: np.save(path, values), r"articles\.offsets\.npy are not the offsets")
            for values in (np.zeros(0, np.int64), np.zeros((2, 2), np.int64), np.zeros(4))
        ),
    ],
)
def test_missing_or_damaged_files_are_refused(folder, name, damage, said):
    damage(folder / name)
    with pytest.raises(RunError, match=said):
        ArticleStore(folder)


def test_a_damaged_line_is_named(folder):
    path = folder / "articles.jsonl"
    path.write_bytes(path.read_bytes().replace(b'["N1"', b'{"N1"'))
    assert ArticleStore(folder).read([0])[0].article_id == "D1"
    with pytest.raises(RunError, match=r"articles\.jsonl:2: not readable"):
        ArticleStore(folder).read([1])


@pytest.mark.parametrize("place", [2**62, -1])
def test_an_article_that_would_be_nowhere_is_damaged(folder, place):
    offsets = np.load(folder / OFFSETS)
    offsets[1] = place
    np.save(folder / OFFSETS, offsets)
    with pytest.raises(RunError, match="not readable"):
        ArticleStore(folder).read([0])


def dated(*dates: dict) -> list[Article]:
    return [Article(f"L{row}", "", "text", ("Code",), row, metadata) for row, metadata in enumerate(dates)]


def test_an_article_is_in_force_from_its_first_day_up_to_its_last(tmp_path):
    write_article_store(dated({"valid_from": "0001-01-03", "valid_to": "0001-01-05"}, {}), tmp_path)
    store = ArticleStore(tmp_path)
    assert store.days_in_force.tolist() == [[3, 5], [0, 2**31 - 1]]
    assert [store.in_force(day).rows.tolist() for day in (2, 5)] == [[1], [1]]
    assert [store.in_force(day) for day in (3, 4, None)] == [None, None, None]  # every article


def test_without_dates_there_is_no_file_and_an_old_one_goes(tmp_path):
    write_article_store(dated({"valid_to": "2026-01-31"}), tmp_path)
    assert (tmp_path / DATES).is_file()
    write_article_dates(dated({"etat": "VIGUEUR"}), tmp_path)
    assert not (tmp_path / DATES).exists()
    assert ArticleStore(tmp_path).days_in_force is None


def test_a_damaged_file_or_one_of_other_articles_is_refused(tmp_path):
    write_article_store(dated({}, {}), tmp_path)
    np.save(tmp_path / DATES, np.zeros((3, 2), dtype=np.int32))
    with pytest.raises(RunError, match=r"int32 of shape \(3, 2\) where int32 of shape \(2, 2\) was written"):
        ArticleStore(tmp_path).in_force(1)
    (tmp_path / DATES).write_bytes(b"x")
    with pytest.raises(RunError, match=r"articles\.dates\.npy: not readable \(.*\); train the run again"):
        ArticleStore(tmp_path).in_force(1)


def test_the_structure_is_saved_beside_the_articles(tmp_path, corpus):
    write_article_store(corpus.articles, tmp_path)
    saved = ArticleStore(tmp_path)
    assert saved.structure.section.tolist() == saved.tree.article_parents.tolist()
    (tmp_path / STRUCTURE).write_bytes(b"x")
    with pytest.raises(RunError, match=r"structure\.npz: not readable"):
        ArticleStore(tmp_path).structure  # noqa: B018
