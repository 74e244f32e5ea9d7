"""Clients of a service on sockets, and readers that ask until they are stopped."""

from __future__ import annotations

import http.client
import itertools
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from tests.town import town
from tests.trials.served import WAIT_S, asked, searched

QUESTIONS = tuple(question.text for question in town().questions)
_READERS = 8
_SEARCH = "POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


class Readers:
    """Threads that ask until the block ends, each question answered as one of the runs that are known answers it.

    Args:
        retries: whether a connection that is refused or breaks off, or 503, is no failure: they ask again.
        marks: whether they mark, too.

    Attributes:
        answers: how many they got.
        marked: the questions of the marks that were confirmed.
        problems: what was wrong.
    """

    def __init__(self, port: int, known: list[dict[str, dict]], *, retries: bool = False, marks: bool = False):
        self._port, self._known, self._retries, self._marks = port, known, retries, marks
        self.answers, self.marked, self.problems = 0, set(), []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=[reader]) for reader in range(_READERS)]

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _read(self, reader: int) -> None:
        for number in itertools.count():
            if self._ended.is_set():
                return
            question = QUESTIONS[(reader + number) % len(QUESTIONS)]
            try:
                status, answer = searched(self._port, question)
                if self._retries and status == 503:  # the run is loading
                    time.sleep(0.02)
                    continue
                self.answers += 1
                if status != 200 or answer not in [known[question] for known in self._known]:
                    self.problems.append(f"'{question}': {status}, answered otherwise")
                if self._marks:
                    mark = {"question": f"{reader}/{number}", "article_id": "lamps1", "right": True}
                    if asked(self._port, "POST", "/api/feedback", mark)[0] == 201:
                        self.marked.add(mark["question"])
            except (OSError, http.client.HTTPException, ValueError) as error:
                if not self._retries:
                    self.problems.append(f"'{question}': lost ({type(error).__name__})")
                time.sleep(0.02)


def search_request(body: bytes) -> bytes:
    """Return the bytes of a search with a body."""
    return f"{_SEARCH}Content-Length: {len(body)}\r\n\r\n".encode() + body


def connected(port: int, way: Callable[[socket.socket], int | None]) -> int | None:
    """Return what a client gets on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as client:
        return way(client)


def status_of(port: int, sent: bytes, *, ends: bool) -> int | None:
    """Return the status of the first answer to some bytes, None where the connection was closed without one."""

    def send(client: socket.socket) -> int | None:
        with suppress(ConnectionError):  # refused before all was sent
            client.sendall(sent)
            if ends:
                with suppress(OSError):  # answered and closed before it ends: not connected any more
                    client.shutdown(socket.SHUT_WR)
        return status(client)

    return connected(port, send)


def status(client: socket.socket) -> int | None:
    """Return the status of an answer, None where there is none; 0 where it is no HTTP."""
    line = b""
    with suppress(ConnectionError):
        while b"\r\n" not in line and (got := client.recv(4096)):
            line += got
    if not line:
        return None
    words = line.split(b" ", 2)
    return int(words[1]) if words[0] == b"HTTP/1.1" and words[1].isdigit() else 0
