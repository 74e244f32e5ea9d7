"""Milvus as an index engine: a collection for each state, on a cluster or in the file of Milvus Lite."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.config import IndexConfig
from statgraph.errors import EngineError, UsageError, reason_of
from statgraph.extras import missing
from statgraph.law.allowed_rows import Where
from statgraph.retrieval.index.engines.contract import KEPT_STATES, Columns, RankedIds, State, Written
from statgraph.retrieval.index.engines.tables import TableEngine, expression, path_key, ranked_ids
from statgraph.retrieval.index.ivf_pq_index import default_lists

if TYPE_CHECKING:
    from pymilvus import MilvusClient
    from pymilvus.milvus_client import IndexParams

TOKEN_VARIABLE = "MILVUS_TOKEN"
_STATES, _PREFIX = "statgraph_states", "statgraph_articles_"
_ROWS_AT_ONCE = 2_000  # a message holds 64 MB at most
_MAX_HITS = 16_384
_MAX_BYTES = {"id": 512, "code": 4096, "path": 16_384}
_TIMEOUT_S = 10
_ABANDONED_S = 24 * 3600  # after which nobody goes on writing


class MilvusEngine(TableEngine):
    """A collection; writing ends with its name in the collection of states, where readers look their state's up."""

    name = "milvus"

    def __init__(self, uri: str, state: State, config: IndexConfig | None = None):
        super().__init__(uri, state, config)
        self._client = _connected(uri)
        self._collection = ""

    def _load(self) -> None:
        """Search the collection that the state has."""
        with _errors_at(self.uri):
            states = self._states()
            if self.state.key not in states:
                raise self.state.missing_from(self.uri, states, remedy=self.remedy())
            entry = states[self.state.key]
            self._client.load_collection(entry["collection"])
        self._collection, self._lists, self.width = entry["collection"], entry["lists"], entry["width"]
        self._counts = {}

    def _write(self, ids: Sequence[str], tiles: Iterator[tuple[int, np.ndarray]], columns: Columns) -> Written:
        """Fill a new collection, index it and name it as the state's."""
        collection, width = f"{_PREFIX}{int(time.time())}_{secrets.token_hex(4)}", 0
        with _errors_at(self.uri):
            if not self._client.has_collection(_STATES):
                _make_states(self._client)
            for start, tile in tiles:
                if not width:
                    width = tile.shape[1]
                    _make_articles(self._client, collection, width)
                for first in range(0, len(tile), _ROWS_AT_ONCE):
                    rows = range(start + first, start + min(first + _ROWS_AT_ONCE, len(tile)))
                    some = columns.of(rows)
                    entries = [
                        {
                            "id": ids[row],
                            "vector": tile[row - start],
                            "code": path[0] if path else "",
                            "path": path_key(path),
                            "valid_from": int(valid_from),
                            "valid_to": int(valid_to),
                        }
                        for row, path, (valid_from, valid_to) in zip(rows, some.paths, some.days, strict=True)
                    ]
                    self._client.upsert(collection, entries)
            self._commit(collection, width, len(ids))
        return Written(len(ids), len(ids), 0)

    def _commit(self, collection: str, width: int, n_articles: int) -> None:
        """Index a collection and name it as the state's."""
        client, states = self._client, self._states()
        client.flush(collection)
        lists = 0
        if self._config.kind != "flat" and (self._config.kind == "ivf-pq" or n_articles > self._config.flat_most):
            lists = default_lists(n_articles)
            client.release_collection(collection)
            client.drop_index(collection, "vector")
            client.create_index(collection, _index(client, "IVF_FLAT", nlist=lists))
            client.load_collection(collection)
        before = states.pop(self.state.key, {})
        entry = {
            "key": self.state.key,
            "state": [0.0, 0.0],
            "collection": collection,
            "previous": before.get("collection", ""),  # whose readers may still be at work
            # Later than all others, whatever the clock says.
            "committed": max(time.time_ns(), 1 + max((other["committed"] for other in states.values()), default=0)),
            "lists": lists,
            "width": width,
        }
        client.upsert(_STATES, [entry])
        self._remove_old([entry, *sorted(states.values(), key=lambda entry: entry["committed"], reverse=True)])

    def _count(self, where: Where) -> int:
        counted = self._client.query(
            self._collection, condition_expression(where), output_fields=["count(*)"], consistency_level="Strong"
        )
        return int(counted[0]["count(*)"])

    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[RankedIds]:
        if k > _MAX_HITS:
            raise UsageError(f"k must be at most {_MAX_HITS:,} with engine milvus (got {k})")
        with _errors_at(self.uri):
            probes = self._probes(k, where) or self._lists
            answers = self._client.search(
                self._collection,
                data=list(vectors),
                anns_field="vector",
                filter=condition_expression(where),
                limit=k,
                output_fields=["vector"],
                search_params={"metric_type": "IP", "params": {"nprobe": probes} if probes else {}},
                consistency_level="Strong",
            )
        return [
            ranked_ids([hit["id"] for hit in hits], self._matrix(hits), vector, k)
            for hits, vector in zip(answers, vectors, strict=True)
        ]

    def _matrix(self, hits: Sequence[Mapping[str, Any]]) -> np.ndarray:
        return np.array([hit["entity"]["vector"] for hit in hits], dtype=np.float32).reshape(-1, self.width)

    def _states(self) -> dict[str, dict[str, Any]]:
        """Return the entry of every committed state by its key."""
        if not self._client.has_collection(_STATES):
            return {}
        self._client.load_collection(_STATES)
        fields = ["key", "collection", "previous", "committed", "lists", "width"]
        entries = self._client.query(_STATES, 'key != ""', output_fields=fields, consistency_level="Strong")
        return {entry["key"]: dict(entry) for entry in entries}

    def _remove_old(self, entries: Sequence[Mapping[str, Any]]) -> None:
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


def _connected(uri: str) -> MilvusClient:
    try:
        from pymilvus import MilvusClient
    except ModuleNotFoundError:
        raise missing("pymilvus", "engines") from None
    with _errors_at(uri):
        return MilvusClient(uri, token=os.environ.get(TOKEN_VARIABLE, ""), timeout=_TIMEOUT_S)


@contextmanager
def _errors_at(uri: str) -> Iterator[None]:
    """Raise the client's errors as EngineError, one line with the place."""
    from pymilvus import MilvusException

    try:
        yield
    except (MilvusException, OSError, ModuleNotFoundError) as error:
        reason = getattr(error, "message", "") or reason_of(error)
        hint = f"is Milvus up, and {TOKEN_VARIABLE} right?"
        if "://" not in uri:
            hint = "is another process at it? Milvus Lite lets in one at a time"
        raise EngineError(f"{uri}: {str(reason).splitlines()[0][:300]}; {hint}") from error


def _make_articles(client: MilvusClient, name: str, width: int) -> None:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=_MAX_BYTES["id"])
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=width)
    schema.add_field("code", DataType.VARCHAR, max_length=_MAX_BYTES["code"])
    schema.add_field("path", DataType.VARCHAR, max_length=_MAX_BYTES["path"])
    schema.add_field("valid_from", DataType.INT64)
    schema.add_field("valid_to", DataType.INT64)
    client.create_collection(name, schema=schema, index_params=_index(client, "FLAT"), consistency_level="Strong")


def _make_states(client: MilvusClient) -> None:
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


def _index(client: MilvusClient, kind: str, field: str = "vector", **params: int) -> IndexParams:
    index = client.prepare_index_params()
    index.add_index(field, index_type=kind, metric_type="IP", params=params)
    return index


def condition_expression(where: Where) -> str:
    """Return a condition as Milvus's expression; blank where there is none."""
    return expression(where, _quoted, "[]")


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        text = text.replace(plain, escaped)
    return f'"{text}"'
