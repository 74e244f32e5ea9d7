"""Readers' marks on disk: one JSON line each, appended and synced before the reader is told."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from statgraph.errors import UsageError

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


def check_writable(path: Path) -> None:
    """Open a file as its first mark would: it is made where it is not there, and what it holds stays.

    Raises:
        UsageError: if marks cannot be written to it.
    """
    try:
        if path.exists() and not path.is_file():  # to open a pipe would wait for its reader
            raise OSError(errno.EINVAL, "no plain file")
        path.open("ab+").close()
    except OSError as error:
        raise UsageError(
            f"--feedback {path}: cannot be written ({error.strerror}); "
            "name a file in a folder that is there and can be written"
        ) from None


def _last_byte(file: BinaryIO, size: int) -> bytes:
    file.seek(size - 1)
    return file.read(1)
