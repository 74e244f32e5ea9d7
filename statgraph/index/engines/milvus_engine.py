"""Milvus as an index engine: a collection for each state, on a cluster or in the file of Milvus Lite."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from statgraph.config import Bm25Config, IndexConfig
from statgraph.corpus.where import Where
from statgraph.errors import DependencyError, EngineError, UsageError, reason_of
from statgraph.index.engines.contract import KEPT_STATES, Columns, Ranking, State
from statgraph.index.engines.table_engine import TableEngine, expression, lists_of, path_key, ranked

TOKEN_VARIABLE = "MILVUS_TOKEN"
_STATES, _PREFIX = "statgraph_states", "statgraph_articles_"
_ROWS_AT_ONCE = 2_000  # a message holds 64 MB at most
_MOST_HITS = 16_384
_LONGEST = {"id": 512, "code": 4096, "path": 16_384, "words": 65_535}  # bytes
_PATIENCE_S = 10
_ABANDONED_S = 24 * 3600  # after which nobody goes on writing


class MilvusEngine(TableEngine):
    """A collection; `commit` names it in the collection of states, where readers look their state's up."""

    name = "milvus"
    keeps_version = False
    ids_at_once = _ROWS_AT_ONCE

    def __init__(self, uri: str, *arguments, **named):
        super().__init__(uri, *arguments, **named)
        self._client = _connected(uri)
        self._collection = ""

    @classmethod
    def create(
        cls, uri: str, state: State, config: IndexConfig | None = None, bm25: Bm25Config | None = None
    ) -> MilvusEngine:
        """Return the writer of a state, as `IndexEngine.create` does."""
        engine = super().create(uri, state, config, bm25)
        with engine._told():
            if not engine._client.has_collection(_STATES):
                _make_states(engine._client)
        return engine

    def refresh(self) -> None:
        """Search the collection that the state has now."""
        with self._told():
            states = self._states()
            if self.state.key not in states:
                raise self.state.missing_from(self.uri, states, remedy=self.remedy())
            entry = states[self.state.key]
            self._client.load_collection(entry["collection"])
            fields = self._client.describe_collection(entry["collection"])["fields"]
        self._collection, self._lists, self.width = entry["collection"], entry["lists"], entry["width"]
        self._counts, self.has_words = {}, "words" in [field["name"] for field in fields]

    def _commit(self) -> None:
        """Index the collection and name it as the state's."""
        n_articles = self.count()
        with self._told():
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

    def _count(self, where: Where) -> int:
        found = self._client.query(
            self._collection, condition_expression(where), output_fields=["count(*)"], consistency_level="Strong"
        )
        return int(found[0]["count(*)"])

    def _add(self, ids: Sequence[str], vectors: np.ndarray, columns: Columns) -> None:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        with self._told():
            if not self._collection:
                name = f"{_PREFIX}{int(time.time())}_{secrets.token_hex(4)}"
                _make_articles(self._client, name, vectors.shape[1], self._bm25)
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
                    | ({} if columns.words is None else {"words": _beginning(columns.words[row], _LONGEST["words"])})
                    for row in range(start, min(start + _ROWS_AT_ONCE, len(ids)))
                ]
                self._client.upsert(self._collection, rows)

    def _delete(self, ids: Sequence[str]) -> None:
        with self._told():
            for some in self._in_parts(ids):
                self._client.delete(self._collection, filter=condition_expression(some))

    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[Ranking]:
        probes = self._probes(k, where) or self._lists
        found = self._asked("vector", list(vectors), k, where, ["vector"], "IP", {"nprobe": probes} if probes else {})
        return [
            ranked([hit["id"] for hit in hits], self._matrix([hit["entity"]["vector"] for hit in hits]), vector)
            for hits, vector in zip(found, vectors, strict=True)
        ]

    def _search_text(self, words: str, k: int, where: Where) -> Ranking:
        (hits,) = self._asked("terms", [words], k, where, [], "BM25", {})
        scores = np.array([abs(hit["distance"]) for hit in hits], dtype=np.float32)  # Milvus Lite's are negative
        return Ranking(tuple(hit["id"] for hit in hits), scores)

    def _asked(self, field: str, data: list, k: int, where: Where, output: list[str], metric: str, params: dict):
        if k > _MOST_HITS:
            raise UsageError(f"k must be at most {_MOST_HITS:,} with engine milvus (got {k})")
        with self._told():
            return self._client.search(
                self._collection,
                data=data,
                anns_field=field,
                filter=condition_expression(where),
                limit=k,
                output_fields=output,
                search_params={"metric_type": metric, "params": params},
                consistency_level="Strong",
            )

    def _rows_of(self, where: Where) -> dict[str, np.ndarray]:
        rows = self._client.query(
            self._collection, condition_expression(where), output_fields=["id", "vector"], consistency_level="Strong"
        )
        return {row["id"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}

    def _told(self) -> AbstractContextManager[None]:
        return _named(self.uri)

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


def _make_articles(client, name: str, width: int, bm25: Bm25Config | None) -> None:
    """Make the collection of articles; with `bm25` of their words too, which Milvus weighs by itself."""
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=_LONGEST["id"])
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=width)
    schema.add_field("code", DataType.VARCHAR, max_length=_LONGEST["code"])
    schema.add_field("path", DataType.VARCHAR, max_length=_LONGEST["path"])
    schema.add_field("valid_from", DataType.INT64)
    schema.add_field("valid_to", DataType.INT64)
    indexes = _index(client, "FLAT")
    if bm25 is not None:
        # Milvus Lite knows no plainer tokenizer; both leave words whole that have neither spaces nor signs.
        analysis = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}}
        schema.add_field("words", DataType.VARCHAR, max_length=_LONGEST["words"], **analysis)
        schema.add_field("terms", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function("terms", FunctionType.BM25, ["words"], ["terms"]))
        weights = {"bm25_k1": bm25.k1, "bm25_b": bm25.b}
        indexes.add_index("terms", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=weights)
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Strong")


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
    return expression(where, _quoted, "[]")


def _beginning(words: str, most_bytes: int) -> str:
    """Return as many of the words as fit."""
    encoded = words.encode("utf-8")
    return words if len(encoded) <= most_bytes else encoded[: most_bytes + 1].rpartition(b" ")[0].decode("utf-8")


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        text = text.replace(plain, escaped)
    return f'"{text}"'
