"""LanceDB as an index engine: one versioned table in a folder or on object storage, each state a tagged version."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta

import numpy as np

from statgraph.config import Bm25Config, IndexConfig
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.errors import DependencyError, EngineError, reason_of
from statgraph.index.engines.contract import KEPT_STATES, Columns, Ranking, State, Written
from statgraph.index.engines.held_articles import HeldArticles
from statgraph.index.engines.table_engine import PATH_END, TableEngine, expression, lists_of, path_key, ranked

TABLE, WORDS = "articles", "words"
HELD_MOST = IndexConfig.flat_most
_DIGEST_BYTES = 8
# LanceDB lists all rows that meet a condition before it searches them. Where at least this share does, it is quicker to
# search all for so many times as many as asked for, and to leave out the others.
_WIDE, _WIDE_DEPTH = 0.5, 4
_REFINE = 40  # times as many candidates as hits are ranked again by their vectors
_COMPACTION = timedelta(days=1)  # LanceDB counts the age of a version once it has merged files, which can take long
_WITHOUT_CLEANUP = timedelta(days=365_000)
# Otherwise it takes minutes until an address where nobody answers is given up.
_PATIENCE = {"connect_timeout": "5s", "client_max_retries": "2", "client_retry_timeout": "10"}


class LanceEngine(TableEngine):
    """A LanceDB table; `commit` tags its version with the state, and a reader keeps to that version.

    LanceDB reads and unpacks all vectors again for each exact search. A reader of up to `HELD_MOST` articles reads them
    once, when it opens the table, and searches them in memory. Words it leaves in the table and its full-text index.
    """

    name = "lance"
    ids_at_once = 10_000

    def __init__(self, uri: str, *arguments, **named):
        super().__init__(uri, *arguments, **named)
        self._database = _connected(uri)
        self._table = None
        self._digests: dict[str, int] = {}  # of the articles that a writer holds, by id
        self._held: HeldArticles | None = None

    @classmethod
    def create(
        cls, uri: str, state: State, config: IndexConfig | None = None, bm25: Bm25Config | None = None
    ) -> LanceEngine:
        """Return the writer of a state, as `IndexEngine.create` does."""
        engine = super().create(uri, state, config, bm25)
        with engine._told():
            engine._database.list_tables()
        return engine

    def refresh(self) -> None:
        """Search the version that has the state's tag now."""
        with self._told():
            table = self._newest()
            tags = {} if table is None else table.tags.list()
            if self.state.key not in tags:
                raise self.state.missing_from(self.uri, tags, remedy=self.remedy())
            table.checkout(tags[self.state.key]["version"])
            lists = _lists(table)
            held = None if lists or table.count_rows() > HELD_MOST else _held(table)
        self._table, self._lists, self._counts, self._held = table, lists, {}, held
        self.width, self.has_words = _width(table), WORDS in table.schema.names

    def write(self, ids: Sequence[str], tiles: Iterable[tuple[int, np.ndarray]], columns: Columns) -> Written:
        """Make these all the articles, as `IndexEngine.write` does: what the newest version has already stays."""
        self._check_writing()
        with self._told():
            self._table = self._newest()
            if self._table is not None and (WORDS in self._table.schema.names) != self.has_words:
                self._table = None
            if self._table is not None:
                self.width = _width(self._table)
                self._digests = _held_digests(self._table)
        changed = 0
        for start, tile in tiles:
            if self.width not in (0, tile.shape[1]):  # another backbone
                self._table, self._digests, self.width = None, {}, 0
            of_tile = columns.of(range(start, start + len(tile)))
            digests = _digests(tile, of_tile)
            new = [row for row, digest in enumerate(digests) if self._digests.get(ids[start + row]) != digest]
            self.add([ids[start + row] for row in new], tile[new], of_tile.of(new))
            changed += len(new)
        removed = list(self._digests.keys() - set(ids))
        self.delete(removed)
        self.commit()
        return Written(len(ids), changed, len(removed))

    def _commit(self) -> None:
        """Index the table and tag its version with the state."""
        with self._told():
            table = self._table
            self._check_alone(table.version)
            _index_columns(table)
            self._index_vectors(table)
            others = {key: tag for key, tag in table.tags.list().items() if key != self.state.key}
            for key in sorted(others, key=lambda key: others[key]["version"], reverse=True)[KEPT_STATES - 1 :]:
                table.tags.delete(key)
            table.optimize(cleanup_older_than=kept_for(table))
            self._lists = _lists(table)
            self._check_alone(table.version)
            tags = table.tags
            (tags.update if self.state.key in tags.list() else tags.create)(self.state.key, table.version)

    def _count(self, where: Where) -> int:
        return self._table.count_rows(condition_sql(where)) if self._held is None else self._held.count(where)

    def _add(self, ids: Sequence[str], vectors: np.ndarray, columns: Columns) -> None:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        digests = _digests(vectors, columns)
        batch = _batch(ids, vectors, columns, digests)
        known = np.array([article_id in self._digests for article_id in ids])
        with self._told():
            if self._table is None:
                self._table = self._database.create_table(TABLE, schema=batch.schema, mode="overwrite")
                if self.has_words:
                    self._step(lambda: self._table.create_index(WORDS, config=_full_text()))
            if not known.all():
                self._step(lambda: self._table.add(batch.filter(~known)))
            if known.any():
                merge = self._table.merge_insert("id").when_matched_update_all()
                self._step(lambda: merge.execute(batch.filter(known)))
        self._digests.update(zip(ids, digests, strict=True))

    def _delete(self, ids: Sequence[str]) -> None:
        known = [article_id for article_id in ids if article_id in self._digests]
        with self._told():
            for some in self._in_parts(known):
                self._step(lambda some=some: self._table.delete(condition_sql(some)))
        for article_id in known:
            del self._digests[article_id]

    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[Ranking]:
        if self._held is not None:
            return self._held.search(vectors, k, where)
        sql = condition_sql(where)
        probes = self._probes(k, where)
        wide = probes > 0 and where != ANYWHERE and self._counts[where] >= _WIDE * self._counts[ANYWHERE]
        with self._told():
            if not wide:
                return [self._nearest(vector, k, k, sql, probes) for vector in vectors]
            rankings = [self._nearest(vector, k, _WIDE_DEPTH * k, sql, probes) for vector in vectors]
            return [
                ranking if len(ranking.ids) == k else self._nearest(vector, k, k, sql, probes)
                for ranking, vector in zip(rankings, vectors, strict=True)
            ]

    def _nearest(self, vector: np.ndarray, k: int, depth: int, sql: str | None, probes: int) -> Ranking:
        """Return the best `k` that meet a condition: of those alone, or if `depth` is more than `k` of the best `depth`
        of all, which may hold fewer."""
        query = self._table.search(vector, vector_column_name="vector").distance_type("dot")
        if sql is not None:
            query = query.where(sql, prefilter=depth == k)
        refined = -(-_REFINE * k // depth)
        query = query.nprobes(probes).refine_factor(refined) if probes else query.bypass_vector_index()
        found = query.select(["id", "vector", "_distance"]).limit(depth).to_arrow()
        ranking = ranked(found["id"].to_pylist(), _matrix(found["vector"], self.width), vector)
        return Ranking(ranking.ids[:k], ranking.scores[:k])

    def _search_text(self, words: str, k: int, where: Where) -> Ranking:
        from lancedb.query import MatchQuery

        sql = condition_sql(where)
        with self._told():
            query = self._table.search(MatchQuery(words, WORDS), query_type="fts")
            query = query if sql is None else query.where(sql, prefilter=True)
            found = query.select(["id", "_score"]).limit(k).to_arrow()
        return Ranking(tuple(found["id"].to_pylist()), found["_score"].to_numpy())

    def _vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        return super()._vectors(ids) if self._held is None else self._held.vectors(ids)

    def _rows_of(self, where: Where) -> dict[str, np.ndarray]:
        query = self._table.search().where(condition_sql(where)).select(["id", "vector"])
        rows = query.limit(len(where.ids)).to_arrow()
        return dict(zip(rows["id"].to_pylist(), _matrix(rows["vector"], self.width), strict=True))

    def _told(self) -> AbstractContextManager[None]:
        return _named(self.uri)

    def _newest(self):
        """Return the table in its newest version, or None."""
        if TABLE not in self._database.list_tables().tables:
            return None
        return self._database.open_table(TABLE)

    def _step(self, change: Callable[[], object]) -> None:
        """Make one change to the table.

        Raises:
            EngineError: if another writer changed it meanwhile: a state of both would be neither's.
        """
        before = self._table.version
        change()
        self._check_alone(before + 1)

    def _check_alone(self, version: int) -> None:
        newest = self._newest()
        if newest is None or newest.version != version:
            raise _others_write(self.uri)

    def _index_vectors(self, table) -> None:
        n_articles = table.count_rows()
        kind = self._config.kind
        if kind == "flat" or (kind == "auto" and n_articles <= self._config.flat_most):
            return
        if not _lists(table):
            from lancedb.index import IvfPq

            lists, part = lists_of(n_articles), next(part for part in (8, 4, 2, 1) if self.width % part == 0)
            config = IvfPq(distance_type="dot", num_partitions=lists, num_sub_vectors=self.width // part)
            table.create_index("vector", config=config)


def _connected(uri: str):
    os.environ.setdefault("LANCEDB_LOG", "error")  # it tells on stderr that a table is made, and the like
    try:
        import lancedb
    except ModuleNotFoundError:
        raise DependencyError("lancedb: not installed; run: pip install 'statgraph[lance]'") from None
    with _named(uri):
        return lancedb.connect(uri, storage_options=storage_options(os.environ) if "://" in uri else None)


def storage_options(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the object store's client is told beside what it reads from AWS_* itself."""
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    options = dict(_PATIENCE)
    if endpoint:
        options |= {"aws_endpoint": endpoint, "allow_http": str(endpoint.startswith("http://")).lower()}
    return options


@contextmanager
def _named(uri: str) -> Iterator[None]:
    """Raise what LanceDB raises as one line with the place."""
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


def _batch(ids: Sequence[str], vectors: np.ndarray, columns: Columns, digests: Sequence[int]):
    """Return the rows as an Arrow table."""
    import pyarrow as pa

    flat = pa.array(vectors.reshape(-1), type=pa.float32())
    words = {} if columns.words is None else {WORDS: pa.array(columns.words, type=pa.string())}
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
        | words
    )


def _digests(vectors: np.ndarray, columns: Columns) -> list[int]:
    """Return a number for each article that tells its vector and columns from any other."""
    digests = []
    words = [""] * len(vectors) if columns.words is None else columns.words
    for vector, path, days, terms in zip(vectors, columns.paths, columns.days, words, strict=True):
        told = hashlib.blake2b(vector.tobytes(), digest_size=_DIGEST_BYTES)
        told.update(path_key(path).encode("utf-8") + days.tobytes() + terms.encode("utf-8"))
        digests.append(int.from_bytes(told.digest(), "little", signed=True))
    return digests


def _held(table) -> HeldArticles:
    """Return the articles of a table's version, in memory."""
    rows = (
        table.search().select(["id", "vector", "path", "valid_from", "valid_to"]).limit(table.count_rows()).to_arrow()
    )
    paths = [tuple(path.split(PATH_END)[:-1]) for path in rows["path"].to_pylist()]
    days = np.column_stack([rows["valid_from"].to_numpy(), rows["valid_to"].to_numpy()])
    return HeldArticles.of(rows["id"].to_pylist(), _matrix(rows["vector"], _width(table)), Columns(paths, days))


def _held_digests(table) -> dict[str, int]:
    rows = table.search().select(["id", "digest"]).limit(table.count_rows()).to_arrow()
    return dict(zip(rows["id"].to_pylist(), rows["digest"].to_pylist(), strict=True))


def _matrix(column, width: int) -> np.ndarray:
    """Return an Arrow column of vectors as (rows, width) float32."""
    return column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, width)


def _width(table) -> int:
    return table.schema.field("vector").type.list_size


def _lists(table) -> int:
    """Return how many lists the approximate index of the vectors has; 0 where there is none."""
    for index in table.list_indices():
        if list(index.columns) == ["vector"]:
            return lists_of(table.count_rows())
    return 0


def _full_text():
    """Return the index of words that are terms already: told apart by spaces, and taken as they are."""
    from lancedb.index import FTS

    return FTS(
        base_tokenizer="whitespace", max_token_length=None, lower_case=False, stem=False, remove_stop_words=False,
        ascii_folding=False,
    )  # fmt: skip


def _index_columns(table) -> None:
    from lancedb.index import Bitmap, BTree

    indexed = {column for index in table.list_indices() for column in index.columns}
    for column, kind in (("id", BTree), ("path", BTree), ("code", Bitmap), ("valid_to", BTree)):
        if column not in indexed:
            table.create_index(column, config=kind())


def kept_for(table) -> timedelta:
    """Return for how long versions must stay: LanceDB refuses to clean up beyond a tagged one."""
    tagged = [tag["version"] for tag in table.tags.list().values()]
    if not tagged:
        return _WITHOUT_CLEANUP
    written = {version["version"]: version["timestamp"] for version in table.list_versions()}
    # The clock may have been put back since.
    return max(datetime.now() - written[min(tagged)], timedelta()) + _COMPACTION
