"""Drafts of a corpus and their problems, and files to write and serve, for the tests of formats."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from statgraph.errors import CorpusError
from statgraph.law.draft import Draft


@pytest.fixture
def draft() -> Draft:
    return Draft(name="town", language="en")


@pytest.fixture
def write_jsonl() -> Callable[..., Path]:
    """Return a function that writes records, one a line, and returns the file."""

    def write(path: Path, *records: object) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
        return path

    return write


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *about: object) -> None:
        pass


@pytest.fixture
def serve_folder() -> Iterator[Callable[[Path], str]]:
    """Return a function that serves a folder on this machine until the test ends, and returns its address."""
    with ExitStack() as stack:

        def serve(folder: Path) -> str:
            handler = functools.partial(_QuietHandler, directory=folder)
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}/"

        yield serve


@pytest.fixture
def problems_of() -> Callable[[Draft], list[str]]:
    """Return a function that lists the problems for which a draft is refused, [] where it is a corpus."""

    def problems(draft: Draft) -> list[str]:
        try:
            draft.corpus()
        except CorpusError as error:
            return list(error.problems)
        return []

    return problems


@pytest.fixture
def recorded(draft: Draft, problems_of: Callable[[Draft], list[str]]) -> Callable[[], list[str]]:
    """Return a function that lists the problems recorded so far, without that of the missing articles."""
    return lambda: [problem for problem in problems_of(draft) if "holds no articles" not in problem]
