"""Readers' feedback on disk: one JSON line a mark, synced before the answer is sent."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from statgraph.errors import UsageError, option

FEEDBACK_FILE = "feedback.jsonl"


class FeedbackFullError(Exception):
    """The file has reached its maximum size."""


def append_mark(
    path: Path,
    *,
    question: str,
    article_id: str,
    right: bool | None,
    comment: str | None,
    max_bytes: int,
    law: str | None = None,
) -> None:
    """Append a mark with the time, and the name of the law's corpus if it is given, to a JSONL file, made with the
    first, and return once it is on disk.

    Raises:
        FeedbackFullError: if the file would exceed its maximum size.
        OSError: if it cannot be written.
    """
    mark = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "question": question,
        "article_id": article_id,
        "right": right,
    }
    if law is not None:
        mark["law"] = law
    if comment:
        mark["comment"] = comment
    line = json.dumps(mark, ensure_ascii=False).encode("utf-8") + b"\n"
    with path.open("ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # against other threads, and other processes that serve the same run
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                line = b"\n" + line  # a mark whose writing broke off takes no other with it
        if size + len(line) > max_bytes:
            raise FeedbackFullError
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def check_writable(path: Path) -> None:
    """Check that marks can be appended to a file: create it if it is missing, and keep what it contains.

    Raises:
        UsageError: if marks cannot be written to it.
    """
    try:
        if path.exists() and not path.is_file():  # to open a pipe would wait for its reader
            raise OSError(errno.EINVAL, "not a regular file")
        path.open("ab+").close()
    except OSError as error:
        raise UsageError(
            f"{option('feedback')} {path}: cannot be written ({error.strerror}); name a file in an existing, writable "
            "folder"
        ) from None
