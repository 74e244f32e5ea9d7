"""The finished batches of a long generation, on disk after each batch, so that a kill costs one batch."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from statgraph.disk import locked, refused_write_named
from statgraph.errors import UsageError
from statgraph.settings import changed_settings


class PartialFile:
    """Finished batches, one JSON object a line, after a first line with the settings that decide them.

    A last line that a kill left half-written is dropped. Nothing is written before the first batch.

    Args:
        path: the file; it need not exist.
        about: the settings that decide the batches (JSON values).

    Raises:
        UsageError: if the file was started with other settings, or is damaged.
    """

    def __init__(self, path: Path, about: Mapping[str, object]):
        self._path = path
        self._about = dict(about)
        whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
        self._size = len(whole) + 1 if whole else 0
        lines = [self._parsed(line) for line in whole.split(b"\n")] if whole else []
        if lines and lines[0] != self._about:
            changed = changed_settings(lines[0], self._about)
            raise UsageError(
                f"{path}: was started with other settings ({changed}); continue with the same ones, "
                "or delete it to start over"
            )
        self.batches: list[dict] = lines[1:]

    def append(self, batch: Mapping[str, object]) -> None:
        """Add a batch; it is on the disk when this returns."""
        lines = [batch] if self._size else [self._about, batch]
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with refused_write_named(self._path), self._path.open("ab+") as file:
            locked(file.fileno(), wait=True)
            file.seek(self._size)
            if b"\n" in file.read():
                raise UsageError(f"{self._path}: another process writes it too; wait for it, or write another file")
            file.truncate(self._size)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(data)
        self.batches.append(dict(batch))

    def _parsed(self, line: bytes) -> dict:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise UsageError(f"{self._path}: damaged; delete it to start over")
        return value
