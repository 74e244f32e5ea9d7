"""Readers' marks on disk: one JSON line each, appended and synced before the reader is told."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

FEEDBACK_FILE = "feedback.jsonl"


class FeedbackFullError(Exception):
    """The file has grown to its bound."""


class FeedbackLog:
    """A JSONL file that marks are appended to, by several threads or processes.

    Args:
        path: the file; made with the first mark.
        max_bytes: how large it may grow.
    """

    def __init__(self, path: Path, *, max_bytes: int):
        self.path = Path(path)
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def append(self, *, question: str, article_id: str, right: bool, comment: str | None) -> None:
        """Append a mark with the time, and return once it is on disk.

        Raises:
            FeedbackFullError: if the file would grow past its bound.
            OSError: if it cannot be written.
        """
        mark = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "question": question,
            "article_id": article_id,
            "right": right,
        }
        if comment:
            mark["comment"] = comment
        line = json.dumps(mark, ensure_ascii=False).encode("utf-8") + b"\n"
        with self._lock, self.path.open("ab+") as file:
            # Another process may serve the same run.
            fcntl.flock(file, fcntl.LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            if size and _last_byte(file, size) != b"\n":
                line = b"\n" + line  # a mark whose writing broke off takes no other with it
            if size + len(line) > self._max_bytes:
                raise FeedbackFullError
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def _last_byte(file: BinaryIO, size: int) -> bytes:
    file.seek(size - 1)
    return file.read(1)
