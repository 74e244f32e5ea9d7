"""Vectors of a corpus as Parquet shards, each beside the hash of the text that was encoded.

A folder, or a place on object storage, of `embedding.json` (the encoder, and the articles of each shard) and
`vectors-NNNNNN.parquet`: `_id`, `hash` (16 bytes), `vector` (float32). A shard is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.config import EncoderConfig
from statgraph.contrib.sharding.article_shards import ArticleShard, placed
from statgraph.encoders.article_text import HASH_BYTES, text_hashes
from statgraph.encoders.frozen import split_keys
from statgraph.errors import RunError, option, reason_of
from statgraph.extras import require
from statgraph.runs import parts
from statgraph.runs.run import RunFolder
from statgraph.systems.updating.update import TextVectors

PLAN = "embedding.json"
FORMAT = 1
_REMEDY = f"run 'statgraph embed' again with the same {option('out')}"


def encoder_of(run: Path, config: EncoderConfig) -> str:
    """Return a fingerprint of the article encoder of a run, in hex: of its weights and its settings."""
    digest = hashlib.sha256(json.dumps(artifacts.as_json(asdict(config)), sort_keys=True).encode())
    for part in (parts.ARTICLE_ENCODER.name, parts.QUERY_ENCODER.name):
        for path in sorted((run / part).rglob("*.safetensors")):
            digest.update(path.relative_to(run).as_posix().encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@dataclass(frozen=True)
class EmbeddingPlan:
    """What is embedded: the articles at `corpus`, shard by shard, with the `encoder` of `encoder_of`."""

    encoder: str
    corpus: str
    shards: tuple[ArticleShard, ...]


class VectorShards:
    """The vectors at a URI.

    Attributes:
        uri: as `placed` takes it.
    """

    def __init__(self, uri: str):
        require("sharding", "pyarrow")
        self.uri = uri
        self._system, self._path = placed(uri)
        self._plan: EmbeddingPlan | None = None

    @property
    def plan(self) -> EmbeddingPlan | None:
        """Return what is embedded there, None where there is nothing.

        Raises:
            RunError: if the place cannot be read, or holds something else.
        """
        if self._plan is None and (raw := self._read(PLAN)) is not None:
            try:
                values = json.loads(raw)
                if values["format"] != FORMAT:
                    raise ValueError(f"format {values['format']}")
                shards = tuple(ArticleShard(**shard) for shard in values["shards"])
                self._plan = EmbeddingPlan(values["encoder"], values["corpus"], shards)
            except (ValueError, TypeError, KeyError) as error:
                raise RunError(
                    f"{self.uri}/{PLAN}: not of this statgraph ({reason_of(error)}); choose another {option('out')}"
                ) from None
        return self._plan

    def begin(self, plan: EmbeddingPlan) -> list[int]:
        """Write the plan, or find it there, and return which of its shards are still to be written.

        Raises:
            RunError: if the vectors of something else are there, or nothing can be written there.
        """
        if self.plan is None:
            self._write(PLAN, json.dumps({"format": FORMAT, **asdict(plan)}, indent=1).encode())
        elif self.plan.encoder != plan.encoder:
            raise RunError(f"{self.uri}: holds the vectors of another run's encoder; choose another {option('out')}")
        elif self.plan != plan:
            raise RunError(
                f"{self.uri}: holds the vectors of {self.plan.corpus} in other shards; choose another {option('out')}, "
                f"or give that corpus, as it was, with the same {option('shard')}"
            )
        self._plan = plan
        return self._missing(plan)

    def _missing(self, plan: EmbeddingPlan) -> list[int]:
        """Return the numbers of the plan's shards that are not there."""
        from pyarrow.fs import FileSelector

        there = {info.path.rpartition("/")[2] for info in self._system.get_file_info(FileSelector(self._path))}
        return [number for number in range(len(plan.shards)) if _name(number) not in there]

    def add(self, number: int, article_ids: Sequence[str], hashes: np.ndarray, vectors: np.ndarray) -> None:
        """Write a shard: the hashes (articles, 16) uint8 of what was encoded, and the vectors (articles, width)."""
        import pyarrow as pa
        from pyarrow import parquet

        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
        table = pa.table(
            {
                "_id": pa.array(article_ids, type=pa.string()),
                "hash": pa.array(split_keys(hashes), type=pa.binary(HASH_BYTES)),
                "vector": pa.FixedSizeListArray.from_arrays(flat, max(1, vectors.shape[1])),
            }
        )
        held = io.BytesIO()
        parquet.write_table(table, held, compression="zstd", use_dictionary=False)
        self._write(_name(number), held.getvalue())

    def check_whole(self, encoders: Collection[str]) -> None:
        """Raise RunError unless all vectors are there, and are of one of these encoders."""
        if self.plan is None:
            raise RunError(f"{self.uri}: holds no vectors; write them with 'statgraph embed --out {self.uri}'")
        if self.plan.encoder not in encoders:
            raise RunError(f"{self.uri}: holds the vectors of another run's encoder; embed the corpus with this run")
        missing = self._missing(self.plan)
        if missing:
            raise RunError(f"{self.uri}: {len(missing)} of {len(self.plan.shards)} shards are not there yet; {_REMEDY}")

    def encoded(self, texts: Sequence[str], encode: Callable[[Sequence[str]], np.ndarray]) -> tuple[np.ndarray, int]:
        """Return (the vectors of texts (texts, width) float32, how many were there); `encode` gives the others'.

        Of the shards no more than one is in memory at a time.

        Raises:
            RunError: if a shard cannot be read.
        """
        rows = {key: row for row, key in enumerate(split_keys(text_hashes(texts)))}
        vectors, known = None, np.zeros(len(texts), dtype=bool)
        for number in range(len(self.plan.shards) if self.plan else 0):
            keys, shard_vectors = self._shard(number)
            chosen = [(rows[key], place) for place, key in enumerate(keys) if key in rows]
            if not chosen:
                continue
            into, places = map(list, zip(*chosen, strict=True))
            if vectors is None:
                vectors = np.empty((len(texts), shard_vectors.shape[1]), dtype=np.float32)
            vectors[into] = shard_vectors[places]
            known[into] = True
        unknown = np.flatnonzero(~known)
        if len(unknown):
            new = encode([texts[row] for row in unknown.tolist()])
            vectors = np.empty((len(texts), new.shape[1]), dtype=np.float32) if vectors is None else vectors
            vectors[unknown] = new
        return np.zeros((0, 0), np.float32) if vectors is None else vectors, int(known.sum())

    def _shard(self, number: int) -> tuple[Iterable[bytes], np.ndarray]:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            raw = self._read(_name(number)) or b""
            table = parquet.read_table(pa.BufferReader(raw), columns=["hash", "vector"]).combine_chunks()
            width = table.schema.field("vector").type.list_size
            flat = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
            return table["hash"].to_pylist(), flat.reshape(-1, width)
        except (pa.ArrowException, KeyError) as error:
            raise RunError(
                f"{self.uri}/{_name(number)}: cannot be read ({reason_of(error)}); remove it, and {_REMEDY}"
            ) from None

    def _read(self, name: str) -> bytes | None:
        try:
            with self._system.open_input_file(f"{self._path}/{name}") as file:
                return bytes(file.read())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RunError(f"{self.uri}: cannot be read ({reason_of(error)}); check it and its permissions") from None

    def _write(self, name: str, raw: bytes) -> None:
        """Write a file whole or not at all: an object appears when it is closed, a local file when it is renamed."""
        from pyarrow.fs import LocalFileSystem

        target = f"{self._path}/{name}"
        staging = f"{target}.{os.getpid()}~" if isinstance(self._system, LocalFileSystem) else target
        try:
            self._system.create_dir(self._path)
            with self._system.open_output_stream(staging) as file:
                file.write(raw)
            if staging != target:
                os.replace(staging, target)
        except (OSError, ValueError) as error:
            raise RunError(
                f"{self.uri}: cannot be written ({reason_of(error)}); check it and its permissions"
            ) from None


@dataclass(frozen=True, kw_only=True)
class ShardVectors(TextVectors):
    """Vectors of shards, by the hash of their text; the other texts are embedded."""

    shards: VectorShards

    def check(self, *runs: RunFolder) -> None:
        """Raise RunError unless the shards are complete, and of the encoder of one of the runs."""
        self.shards.check_whole([encoder_of(run.folder, run.config.encoder) for run in runs])

    def only_of(self, run: RunFolder) -> TextVectors:
        """Return this, or what embeds alone where the shards are of another encoder than that of a run."""
        plan = self.shards.plan
        same = plan is not None and plan.encoder == encoder_of(run.folder, run.config.encoder)
        return self if same else TextVectors(self.device, self.progress)

    def of(self, texts: Sequence[str], run: RunFolder) -> tuple[np.ndarray, int]:
        """Return (the vectors of texts (texts, width), how many of them came from the shards)."""
        return self.shards.encoded(texts, lambda others: super(ShardVectors, self).of(others, run)[0])


def _name(number: int) -> str:
    return f"vectors-{number:06}.parquet"
