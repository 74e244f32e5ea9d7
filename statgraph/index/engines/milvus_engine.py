"""Milvus as an index engine: a collection for each state, on a cluster or in the file of Milvus Lite."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.errors import DependencyError, EngineError, UsageError, reason_of
from statgraph.index.engines.contract import (
    KEPT_STATES,
    Columns,
    IndexEngine,
    Ranking,
    State,
    lists_of,
    path_key,
    path_range,
    probes_of,
    ranked,
)
from statgraph.settings import check_settings

TOKEN_VARIABLE = "MILVUS_TOKEN"
_STATES, _PREFIX = "statgraph_states", "statgraph_articles_"
_REMEDY = "write the run with 'statgraph index --run RUN --engine milvus --to URI'"
_ROWS_AT_ONCE = 2_000  # a message holds 64 MB at most
_MOST_HITS = 16_384
_LONGEST = {"id": 512, "code": 4096, "path": 16_384}  # bytes
_PATIENCE_S = 10
_ABANDONED_S = 24 * 3600  # after which nobody goes on writing


class MilvusEngine(IndexEngine):
    """A collection; `commit` names it in the collection of states, where readers look their state's up."""

    name = "milvus"
    keeps_version = False

    def __init__(self, uri: str, state: State, *, writing: bool, config: IndexConfig | None = None):
        super().__init__(uri, state, writing=writing)
        self._config = config or IndexConfig()
        self._client = _connected(uri)
        self._collection = ""
        self._lists = 0
        self._counts: dict[Where, int] = {}

    @classmethod
    def create(cls, uri: str, state: State, config: IndexConfig | None = None) -> MilvusEngine:
        """Return the writer of a state, as `IndexEngine.create` does."""
        check_settings(config or IndexConfig())
        engine = cls(uri, state, writing=True, config=config)
        with _named(uri):
            if not engine._client.has_collection(_STATES):
                _make_states(engine._client)
        return engine

    @classmethod
    def open(cls, uri: str, state: State) -> MilvusEngine:
        """Return a reader of a state, as `IndexEngine.open` does."""
        if "://" not in uri and not Path(uri).exists():
            raise EngineError(f"{uri}: no such file; {_REMEDY}")
        engine = cls(uri, state, writing=False)
        engine.refresh()
        return engine

    def refresh(self) -> None:
        """Search the collection that the state has now."""
        with _named(self.uri):
            states = self._states()
            if self.state.key not in states:
                raise self.state.missing_from(self.uri, states, remedy=_REMEDY)
            entry = states[self.state.key]
            self._client.load_collection(entry["collection"])
        self._collection, self._lists, self.width = entry["collection"], entry["lists"], entry["width"]
        self._counts = {}

    def commit(self) -> None:
        """Index the collection and name it as the state's."""
        self._check_writing()
        n_articles = self.count()
        if not n_articles:
            raise EngineError(f"{self.uri}: no articles to commit; add some first")
        with _named(self.uri):
            client, states = self._client, self._states()
            client.flush(self._collection)
            approximate = self._config.kind == "ivf-pq" or n_articles > self._config.flat_most
            if approximate and self._config.kind != "flat" and not self._lists:
                lists = lists_of(n_articles)
                client.release_collection(self._collection)
                client.drop_index(self._collection, "vector")
                client.create_index(self._collection, _index(client, "IVF_FLAT", nlist=lists))
                client.load_collection(self._collection)
                self._lists = lists
            before = states.pop(self.state.key, {})
            if before.get("collection") == self._collection:
                before = {"collection": before["previous"]}
            entry = {
                "key": self.state.key,
                "state": [0.0, 0.0],
                "collection": self._collection,
                "previous": before.get("collection", ""),  # whose readers may still be at work
                # Later than all others, whatever the clock says.
                "committed": max(time.time_ns(), 1 + max((held["committed"] for held in states.values()), default=0)),
                "lists": self._lists,
                "width": self.width,
            }
            client.upsert(_STATES, [entry])
            self._remove_old([entry, *sorted(states.values(), key=lambda entry: entry["committed"], reverse=True)])

    def count(self, where: Where = ANYWHERE) -> int:
        """Return how many articles meet a condition."""
        if not self._collection or where.ids == ():
            return 0
        with _named(self.uri):
            found = self._client.query(
                self._collection, condition_expression(where), output_fields=["count(*)"], consistency_level="Strong"
            )
        return int(found[0]["count(*)"])

    def _add(self, ids: Sequence[str], vectors: np.ndarray, columns: Columns) -> None:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        with _named(self.uri):
            if not self._collection:
                name = f"{_PREFIX}{int(time.time())}_{secrets.token_hex(4)}"
                _make_articles(self._client, name, vectors.shape[1])
                self._collection = name
            for start in range(0, len(ids), _ROWS_AT_ONCE):
                rows = [
                    {
                        "id": ids[row],
                        "vector": vectors[row],
                        "code": columns.paths[row][0] if columns.paths[row] else "",
                        "path": path_key(columns.paths[row]),
                        "valid_from": int(columns.days[row, 0]),
                        "valid_to": int(columns.days[row, 1]),
                    }
                    for row in range(start, min(start + _ROWS_AT_ONCE, len(ids)))
                ]
                self._client.upsert(self._collection, rows)

    def _delete(self, ids: Sequence[str]) -> None:
        with _named(self.uri):
            for start in range(0, len(ids), _ROWS_AT_ONCE):
                some = Where(ids=tuple(ids[start : start + _ROWS_AT_ONCE]))
                self._client.delete(self._collection, filter=condition_expression(some))

    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[Ranking]:
        if k > _MOST_HITS:
            raise UsageError(f"k must be at most {_MOST_HITS:,} with engine milvus (got {k})")
        probes = self._probes(k, where)
        with _named(self.uri):
            found = self._client.search(
                self._collection,
                data=list(vectors),
                filter=condition_expression(where),
                limit=k,
                output_fields=["vector"],
                search_params={"metric_type": "IP", "params": {"nprobe": probes} if probes else {}},
                consistency_level="Strong",
            )
        return [
            ranked([hit["id"] for hit in hits], self._matrix([hit["entity"]["vector"] for hit in hits]), vector)
            for hits, vector in zip(found, vectors, strict=True)
        ]

    def _probes(self, k: int, where: Where) -> int:
        if not self._lists:
            return 0
        for condition in (where, ANYWHERE):
            if self._writing or condition not in self._counts:
                self._counts[condition] = self.count(condition)
        return probes_of(self._lists, self._counts[where], self._counts[ANYWHERE], k) or self._lists

    def _vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        with _named(self.uri):
            for start in range(0, len(ids), _ROWS_AT_ONCE):
                some = Where(ids=tuple(ids[start : start + _ROWS_AT_ONCE]))
                rows = self._client.query(
                    self._collection,
                    condition_expression(some),
                    output_fields=["id", "vector"],
                    consistency_level="Strong",
                )
                found.update({row["id"]: np.asarray(row["vector"], dtype=np.float32) for row in rows})
        return found

    def _matrix(self, vectors: Sequence[Sequence[float]]) -> np.ndarray:
        return np.array(vectors, dtype=np.float32).reshape(-1, self.width)

    def _states(self) -> dict[str, dict]:
        """Return the entry of every committed state by its key."""
        if not self._client.has_collection(_STATES):
            return {}
        self._client.load_collection(_STATES)
        fields = ["key", "collection", "previous", "committed", "lists", "width"]
        entries = self._client.query(_STATES, 'key != ""', output_fields=fields, consistency_level="Strong")
        return {entry["key"]: dict(entry) for entry in entries}

    def _remove_old(self, entries: Sequence[dict]) -> None:
        """Remove all states but the newest, and collections that nobody names; `entries` are newest first."""
        for entry in entries[KEPT_STATES:]:
            self._client.delete(_STATES, ids=[entry["key"]])
        named = {entry[which] for entry in entries[:KEPT_STATES] for which in ("collection", "previous")}
        former = {entry[which] for entry in entries[KEPT_STATES:] for which in ("collection", "previous")}
        for name in self._client.list_collections():
            if not name.startswith(_PREFIX) or name in named:
                continue
            begun = int(name.removeprefix(_PREFIX).partition("_")[0])
            if name in former or time.time() - begun > _ABANDONED_S:
                self._client.drop_collection(name)


def _connected(uri: str):
    try:
        from pymilvus import MilvusClient
    except ModuleNotFoundError:
        raise DependencyError("pymilvus: not installed; run: pip install 'statgraph[milvus]'") from None
    with _named(uri):
        return MilvusClient(uri, token=os.environ.get(TOKEN_VARIABLE, ""), timeout=_PATIENCE_S)


@contextmanager
def _named(uri: str) -> Iterator[None]:
    """Raise what the client raises as one line with the place."""
    from pymilvus import MilvusException

    try:
        yield
    except (MilvusException, OSError, ModuleNotFoundError) as error:
        reason = getattr(error, "message", "") or reason_of(error)
        hint = f"is Milvus up, and {TOKEN_VARIABLE} right?"
        if "://" not in uri:
            hint = "is another process at it? Milvus Lite lets in one at a time"
        raise EngineError(f"{uri}: {str(reason).splitlines()[0][:300]}; {hint}") from error


def _make_articles(client, name: str, width: int) -> None:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=_LONGEST["id"])
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=width)
    schema.add_field("code", DataType.VARCHAR, max_length=_LONGEST["code"])
    schema.add_field("path", DataType.VARCHAR, max_length=_LONGEST["path"])
    schema.add_field("valid_from", DataType.INT64)
    schema.add_field("valid_to", DataType.INT64)
    client.create_collection(name, schema=schema, index_params=_index(client, "FLAT"), consistency_level="Strong")


def _make_states(client) -> None:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False)
    schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("state", DataType.FLOAT_VECTOR, dim=2)  # a collection must have a vector
    for name in ("collection", "previous"):
        schema.add_field(name, DataType.VARCHAR, max_length=128)
    for name in ("committed", "lists", "width"):
        schema.add_field(name, DataType.INT64)
    client.create_collection(
        _STATES, schema=schema, index_params=_index(client, "FLAT", field="state"), consistency_level="Strong"
    )


def _index(client, kind: str, field: str = "vector", **params: int):
    index = client.prepare_index_params()
    index.add_index(field, index_type=kind, metric_type="IP", params=params)
    return index


def condition_expression(where: Where) -> str:
    """Return a condition as Milvus's expression; blank where there is none."""
    parts = []
    if where.codes:
        parts.append(f"code in {_listed(where.codes)}")
    if where.heading:
        first, after = path_range(where.heading)
        parts.append(f"path >= {_quoted(first)} and path < {_quoted(after)}")
    if where.day is not None:
        parts.append(f"valid_from <= {where.day} and valid_to > {where.day}")
    if where.ids is not None:
        parts.append(f"id in {_listed(where.ids)}")
    return " and ".join(parts)


def _listed(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        text = text.replace(plain, escaped)
    return f'"{text}"'
