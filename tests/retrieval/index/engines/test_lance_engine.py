import os
import sys
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from statgraph.config import IndexConfig
from statgraph.errors import DependencyError, EngineError
from statgraph.law.allowed_rows import ANYWHERE, Where
from statgraph.retrieval.index.engines.contract import Columns, EngineAddress, State
from statgraph.retrieval.index.engines.lance_engine import LanceEngine, condition_sql, kept_for, storage_options
from tests.engine_fixtures import Place
from tests.retrieval.index.engines import test_contract
from tests.retrieval.search import test_engine_index

STATE, LATER = State("a" * 64, "1" * 64), State("b" * 64, "1" * 64)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Return the address of an S3-compatible server on this machine."""
    server = pytest.importorskip("moto.server", reason="needs the extra 'dev'").ThreadedMotoServer(port=0)
    server.start()
    try:
        yield "http://{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()


def _on_s3(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    endpoint = request.getfixturevalue("s3_endpoint")
    settings = {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "REGION": "eu-west-1", "ENDPOINT_URL": endpoint}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    bucket = f"law-{os.getpid()}-{abs(hash(str(tmp_path)))}"
    asked = urllib.request.Request(
        f"{endpoint}/{bucket}",
        method="PUT",
        data=(
            b"<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>"
        ),
    )
    urllib.request.urlopen(asked).close()
    return Place("lance", f"s3://{bucket}/law", f"s3://no-such-bucket-{os.getpid()}/law", sends_changes=True)


@pytest.fixture(params=["folder", "in place", "on S3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return an empty place of each kind in turn; "in place" is as a table is that is too large to be held."""
    pytest.importorskip("lancedb", reason="needs the extra 'lance'")
    if request.param == "on S3":
        return _on_s3(request, tmp_path, monkeypatch)
    if request.param == "in place":
        monkeypatch.setattr("statgraph.retrieval.index.engines.lance_engine.MAX_IN_MEMORY", 0)
    return Place("lance", str(tmp_path / "law"), str(tmp_path / "nowhere"), sends_changes=True)


@pytest.fixture
def address(tmp_path: Path) -> EngineAddress:
    """Return LanceDB in a folder that is not there yet."""
    pytest.importorskip("lancedb", reason="needs the extra 'lance'")
    return EngineAddress("lance", str(tmp_path / "engine"))


class TestLance(test_contract.TestEveryEngine):
    """What every engine must do."""


class TestLanceOfARun(test_engine_index.TestEveryEngineOfARun):
    """What every engine must do with a run."""


def test_a_package_that_is_missing_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(DependencyError, match=r"lancedb.*'.\[engines\]'"):
        LanceEngine.create(str(tmp_path / "law"), STATE)


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
