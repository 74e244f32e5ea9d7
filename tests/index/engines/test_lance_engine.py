from datetime import datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import ANYWHERE, Where
from statgraph.errors import EngineError
from statgraph.index.engines.contract import Columns, State
from statgraph.index.engines.lance_engine import LanceEngine, condition_sql, kept_for, storage_options

STATE, LATER = State("a" * 64, "1" * 64), State("b" * 64, "1" * 64)


def test_conditions_as_sql():
    assert condition_sql(ANYWHERE) is None
    where = Where(("Code de l'eau", "B"), ("B", "I"), 7, ("x", "y"))
    assert condition_sql(where) == (
        "code in ('Code de l''eau', 'B') and path >= 'B\x1fI\x1f' and path < 'B\x1fI\x20' "
        "and valid_from <= 7 and valid_to > 7 and id in ('x', 'y')"
    )


def test_an_endpoint_of_one_s_own_is_taken_from_the_environment():
    assert "aws_endpoint" not in storage_options({})
    own = storage_options({"AWS_ENDPOINT_URL": "http://127.0.0.1:9000", "AWS_ENDPOINT_URL_S3": "https://s3.law"})
    assert (own["aws_endpoint"], own["allow_http"]) == ("https://s3.law", "false")
    assert storage_options({"AWS_ENDPOINT_URL": "http://127.0.0.1:9000"})["allow_http"] == "true"


def test_versions_as_old_as_the_oldest_state_s_are_kept_however_long_the_merging_of_files_takes():
    hours = {3: 50, 5: 20, 7: 1}
    versions = [{"version": at, "timestamp": datetime.now() - timedelta(hours=age)} for at, age in hours.items()]
    tags = SimpleNamespace(list=lambda: {"a": {"version": 7}, "b": {"version": 5}})
    kept = kept_for(SimpleNamespace(tags=tags, list_versions=lambda: versions))
    assert timedelta(hours=43) < kept < timedelta(hours=45)
    hours[5] = -50  # the clock has been put back since
    versions = [{"version": at, "timestamp": datetime.now() - timedelta(hours=age)} for at, age in hours.items()]
    assert kept_for(SimpleNamespace(tags=tags, list_versions=lambda: versions)) == timedelta(days=1)


def law(n_articles: int, seed: int) -> tuple:
    vectors = np.random.default_rng(seed).standard_normal((n_articles, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    days = np.tile(np.array([0, 1000], dtype=np.int32), (n_articles, 1))
    return [f"a{row}" for row in range(n_articles)], vectors, Columns([("Rent Code", "I")] * n_articles, days)


def test_two_writers_at_once_are_refused(tmp_path):
    pytest.importorskip("lancedb", reason="needs the extra 'lance'")
    ids, vectors, columns = law(4, 0)

    def tiles():
        yield 0, vectors[:2]
        LanceEngine.create(str(tmp_path), LATER).write(ids, [(0, vectors)], columns)
        yield 2, vectors[2:]

    with pytest.raises(EngineError, match="another writer"):
        LanceEngine.create(str(tmp_path), STATE).write(ids, tiles(), columns)


def test_a_new_width_takes_the_place_of_the_old(tmp_path):
    pytest.importorskip("lancedb", reason="needs the extra 'lance'")
    ids, vectors, columns = law(4, 0)
    LanceEngine.create(str(tmp_path), STATE).write(ids, [(0, vectors)], columns)
    LanceEngine.create(str(tmp_path), LATER).write(ids[:3], [(0, vectors[:3, :8])], columns.of(range(3)))
    assert [(LanceEngine.open(str(tmp_path), state).width) for state in (STATE, LATER)] == [16, 8]
    assert LanceEngine.open(str(tmp_path), STATE).search(vectors, 1)[2].ids == ("a2",)


def test_an_approximate_index_is_made_where_asked_for_and_left_aside_by_narrow_conditions(tmp_path):
    pytest.importorskip("lancedb", reason="needs the extra 'lance'")
    ids, vectors, columns = law(600, 0)
    writer = LanceEngine.create(str(tmp_path), STATE, IndexConfig(kind="ivf-pq"))
    writer.write(ids, [(0, vectors)], columns)
    reader = LanceEngine.open(str(tmp_path), STATE)
    assert "vector" in [column for index in reader._table.list_indices() for column in index.columns]
    assert [ranking.ids[0] for ranking in reader.search(vectors[:20], 3, Where(day=5))] == ids[:20]
