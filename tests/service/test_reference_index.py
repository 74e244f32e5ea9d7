from concurrent.futures import ThreadPoolExecutor

import pytest

from statgraph.search.article_store import ArticleStore
from statgraph.service.reference_index import ReferenceIndex


@pytest.fixture
def references(library, village_run):
    return ReferenceIndex(library.contents, ArticleStore(village_run))


def test_both_ways_without_an_article_itself(references):
    assert [references.refers_to(row) for row in range(5)] == [(), (0, 3), (), (), (3,)]
    assert [references.referred_by(row) for row in range(5)] == [(1,), (), (), (1, 4), ()]


def test_who_asks_before_it_is_done_waits(references, monkeypatch):
    reads = []
    read = references._store.read
    monkeypatch.setattr(references._store, "read", lambda rows: reads.append(rows) or read(rows))
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(references.refers_to, [1, 1, 4, 4])) == [(0, 3), (0, 3), (3,), (3,)]
    assert reads == [range(5)]


def test_stopped_it_reads_nothing(references):
    references.stop()
    assert references.refers_to(1) == ()
