"""LanceDB as an index engine: one versioned table in a folder or on object storage, each state a tagged version."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from statgraph.config import IndexConfig
from statgraph.errors import EngineError, reason_of
from statgraph.extras import missing
from statgraph.law.allowed_rows import Where
from statgraph.retrieval.index.engines.contract import KEPT_STATES, Columns, RankedIds, State, Written
from statgraph.retrieval.index.engines.faiss_engine import LocalArticles
from statgraph.retrieval.index.engines.tables import PATH_END, TableEngine, expression, path_key, ranked_ids
from statgraph.retrieval.index.ivf_pq_index import default_lists

if TYPE_CHECKING:
    import pyarrow
    from lancedb.db import DBConnection
    from lancedb.table import Table

TABLE = "articles"
MAX_IN_MEMORY = IndexConfig.flat_most
_IDS_AT_ONCE = 10_000  # in one request
_DIGEST_BYTES = 8
_REFINE = 40  # times as many candidates as hits are ranked again by their vectors
_COMPACTION = timedelta(days=1)  # LanceDB counts the age of a version once it has merged files, which can take long
_WITHOUT_CLEANUP = timedelta(days=365_000)
# Otherwise it takes minutes until an address where nobody answers is given up.
_PATIENCE = {"connect_timeout": "5s", "client_max_retries": "2", "client_retry_timeout": "10"}


class LanceEngine(TableEngine):
    """A LanceDB table; writing tags its version with the state, and a reader keeps to that version.

    LanceDB reads and unpacks all vectors again for each exact search. A reader of up to `MAX_IN_MEMORY` articles reads
    them once, when it opens the table, and searches them in memory.
    """

    name = "lance"
    _table: Table  # of a reader: the state's version

    def __init__(self, uri: str, state: State, config: IndexConfig | None = None):
        super().__init__(uri, state, config)
        self._database = _connected(uri)
        self._local: LocalArticles | None = None

    def _load(self) -> None:
        """Search the version that has the state's tag."""
        with _errors_at(self.uri):
            table = self._newest()
            tags = {} if table is None else table.tags.list()
            if table is None or self.state.key not in tags:
                raise self.state.missing_from(self.uri, tags, remedy=self.remedy())
            table.checkout(tags[self.state.key]["version"])
            lists = _lists(table)
            local = None if lists or table.count_rows() > MAX_IN_MEMORY else _read_all(table)
        self._table, self._lists, self._counts, self._local = table, lists, {}, local
        self.width = _width(table)

    def _write(self, ids: Sequence[str], tiles: Iterator[tuple[int, np.ndarray]], columns: Columns) -> Written:
        """Send what the newest version does not have already, remove what is no longer there, and tag the result."""
        with _errors_at(self.uri):
            table = self._newest()
            digests = {} if table is None else _saved_digests(table)
            changed = 0
            for start, tile in tiles:
                if table is not None and _width(table) != tile.shape[1]:  # another backbone
                    table, digests = None, {}
                tile_columns = columns.of(range(start, start + len(tile)))
                tile_digests = _digests(tile, tile_columns)
                new = [row for row, digest in enumerate(tile_digests) if digests.get(ids[start + row]) != digest]
                new_ids = [ids[start + row] for row in new]
                batch = _batch(new_ids, tile[new], tile_columns.of(new), [tile_digests[row] for row in new])
                table = self._added(table, batch, np.array([each in digests for each in new_ids], dtype=bool))
                changed += len(new)
            assert table is not None  # at least one tile came
            removed = list(digests.keys() - set(ids))
            for start in range(0, len(removed), _IDS_AT_ONCE):
                some = condition_sql(Where(ids=tuple(removed[start : start + _IDS_AT_ONCE])))
                self._step(table, partial(table.delete, some))
            if not changed and not removed:  # a version of its own: the order of versions is that of states
                self._step(table, partial(table.delete, "false"))
            self._commit(table)
        return Written(len(ids), changed, len(removed))

    def _added(self, table: Table | None, batch: pyarrow.Table, known: np.ndarray) -> Table:
        """Return the table, a new one where it is None, with the rows of an Arrow table; `known` (rows,) says which
        replace a row of the same id."""
        if table is None:
            table = self._database.create_table(TABLE, schema=batch.schema, mode="overwrite")
        if not known.all():
            self._step(table, lambda: table.add(batch.filter(~known)))
        if known.any():
            merge = table.merge_insert("id").when_matched_update_all()
            self._step(table, lambda: merge.execute(batch.filter(known)))
        return table

    def _commit(self, table: Table) -> None:
        """Index the table and tag its version with the state."""
        self._check_alone(table.version)
        _index_columns(table)
        self._index_vectors(table)
        others = {key: tag for key, tag in table.tags.list().items() if key != self.state.key}
        for key in sorted(others, key=lambda key: others[key]["version"], reverse=True)[KEPT_STATES - 1 :]:
            table.tags.delete(key)
        table.optimize(cleanup_older_than=kept_for(table))
        self._check_alone(table.version)
        tags = table.tags
        (tags.update if self.state.key in tags.list() else tags.create)(self.state.key, table.version)

    def _count(self, where: Where) -> int:
        return int(self._table.count_rows(condition_sql(where)))

    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[RankedIds]:
        if self._local is not None:
            return self._local.search(vectors, k, where)
        with _errors_at(self.uri):
            probes = self._probes(k, where)
            return [self._nearest(vector, k, condition_sql(where), probes) for vector in vectors]

    def _nearest(self, vector: np.ndarray, k: int, sql: str | None, probes: int) -> RankedIds:
        """Return the best `k` that meet a condition."""
        query = self._table.search(vector, vector_column_name="vector").distance_type("dot")
        if sql is not None:
            query = query.where(sql, prefilter=True)
        query = query.nprobes(probes).refine_factor(_REFINE) if probes else query.bypass_vector_index()
        rows = query.select(["id", "vector", "_distance"]).limit(k).to_arrow()
        return ranked_ids(rows["id"].to_pylist(), _matrix(rows["vector"], self.width), vector, k)

    def _newest(self) -> Table | None:
        """Return the table in its newest version, or None."""
        if TABLE not in self._database.list_tables().tables:
            return None
        return self._database.open_table(TABLE)

    def _step(self, table: Table, change: Callable[[], object]) -> None:
        """Make one change to the table.

        Raises:
            EngineError: if another writer changed it meanwhile: a state of both would be neither's.
        """
        before = table.version
        change()
        self._check_alone(before + 1)

    def _check_alone(self, version: int) -> None:
        newest = self._newest()
        if newest is None or newest.version != version:
            raise _others_write(self.uri)

    def _index_vectors(self, table: Table) -> None:
        n_articles = table.count_rows()
        kind = self._config.kind
        if kind == "flat" or (kind == "auto" and n_articles <= self._config.flat_most):
            return
        if not _lists(table):
            from lancedb.index import IvfPq

            width = _width(table)
            part = next(part for part in (8, 4, 2, 1) if width % part == 0)
            lists = default_lists(n_articles)
            config = IvfPq(distance_type="dot", num_partitions=lists, num_sub_vectors=width // part)
            table.create_index("vector", config=config)


def _connected(uri: str) -> DBConnection:
    os.environ.setdefault("LANCEDB_LOG", "error")  # otherwise it prints that a table is created, and the like
    try:
        import lancedb
    except ModuleNotFoundError:
        raise missing("lancedb", "engines") from None
    with _errors_at(uri):
        return lancedb.connect(uri, storage_options=storage_options(os.environ) if "://" in uri else None)


def storage_options(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the options of the object store's client beside what it reads from AWS_* itself."""
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    options = dict(_PATIENCE)
    if endpoint:
        options |= {"aws_endpoint": endpoint, "allow_http": str(endpoint.startswith("http://")).lower()}
    return options


@contextmanager
def _errors_at(uri: str) -> Iterator[None]:
    """Raise LanceDB's errors as EngineError, one line with the place."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        if "concurrent transaction" in str(error):
            raise _others_write(uri) from error
        hint = "is its server up, and are AWS_ENDPOINT_URL, AWS_REGION and the AWS keys right?"
        if "://" not in uri:
            hint = "is the folder there, writable and whole?"
        raise EngineError(f"{uri}: {reason_of(error)[:300]}; {hint}") from error


def _others_write(uri: str) -> EngineError:
    return EngineError(f"{uri}: another writer is at work there; run the command again when it has ended")


def condition_sql(where: Where) -> str | None:
    """Return a condition as LanceDB's SQL; None where there is none."""
    return expression(where, _quoted, "()") or None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _batch(ids: Sequence[str], vectors: np.ndarray, columns: Columns, digests: Sequence[int]) -> pyarrow.Table:
    """Return the rows as an Arrow table."""
    import pyarrow as pa

    flat = pa.array(vectors.reshape(-1), type=pa.float32())
    return pa.table(
        {
            "id": pa.array(ids, type=pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            "code": pa.array([path[0] if path else "" for path in columns.paths], type=pa.string()),
            "path": pa.array([path_key(path) for path in columns.paths], type=pa.string()),
            "valid_from": pa.array(columns.days[:, 0], type=pa.int32()),
            "valid_to": pa.array(columns.days[:, 1], type=pa.int32()),
            "digest": pa.array(digests, type=pa.int64()),
        }
    )


def _digests(vectors: np.ndarray, columns: Columns) -> list[int]:
    """Return for each article a number that changes with its vector or columns."""
    contents = (
        vector.tobytes() + path_key(path).encode("utf-8") + days.tobytes()
        for vector, path, days in zip(vectors, columns.paths, columns.days, strict=True)
    )
    digests = (hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest() for content in contents)
    return [int.from_bytes(digest, "little", signed=True) for digest in digests]


def _saved_digests(table: Table) -> dict[str, int]:
    rows = table.search().select(["id", "digest"]).limit(table.count_rows()).to_arrow()
    return dict(zip(rows["id"].to_pylist(), rows["digest"].to_pylist(), strict=True))


def _read_all(table: Table) -> LocalArticles:
    """Return the articles of a table's version, in memory."""
    rows = (
        table.search().select(["id", "vector", "path", "valid_from", "valid_to"]).limit(table.count_rows()).to_arrow()
    )
    paths = [tuple(path.split(PATH_END)[:-1]) for path in rows["path"].to_pylist()]
    days = np.column_stack([rows["valid_from"].to_numpy(), rows["valid_to"].to_numpy()])
    return LocalArticles.of(rows["id"].to_pylist(), _matrix(rows["vector"], _width(table)), Columns(paths, days))


def _matrix(column: pyarrow.ChunkedArray, width: int) -> np.ndarray:
    """Return an Arrow column of vectors as (rows, width) float32."""
    flat: np.ndarray = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, width)


def _width(table: Table) -> int:
    return int(table.schema.field("vector").type.list_size)


def _lists(table: Table) -> int:
    """Return how many lists the approximate index of the vectors has; 0 where there is none."""
    for index in table.list_indices():
        if list(index.columns) == ["vector"]:
            return default_lists(table.count_rows())
    return 0


def _index_columns(table: Table) -> None:
    from lancedb.index import Bitmap, BTree

    indexed = {column for index in table.list_indices() for column in index.columns}
    for column, kind in (("id", BTree), ("path", BTree), ("code", Bitmap), ("valid_to", BTree)):
        if column not in indexed:
            table.create_index(column, config=kind())


def kept_for(table: Table) -> timedelta:
    """Return for how long versions must stay: LanceDB refuses to clean up beyond a tagged one."""
    tagged = [tag["version"] for tag in table.tags.list().values()]
    if not tagged:
        return _WITHOUT_CLEANUP
    written: dict[int, datetime] = {version["version"]: version["timestamp"] for version in table.list_versions()}
    # The clock may have been put back since.
    return max(datetime.now() - written[min(tagged)], timedelta()) + _COMPACTION
