"""The service: damaged requests, a run that is exchanged, a process that is killed and restarted.

Slow and broken clients, full queues and requests by the OpenAPI document are in tests/service (test_connection.py,
test_laws.py; test_problems.py with STATGRAPH_API_CASES=2000)."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from tests.town import town
from tests.trials.campaign import Outcome, tried
from tests.trials.damage import damaged
from tests.trials.material import Material

REPO = Path(__file__).parents[2]
QUESTIONS = tuple(question.text for question in town().questions)
_WAIT_S = 60.0
_READERS = 8
_BODY = b'{"question": "May I keep dogs?"}'
_REQUESTS = (
    b"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY),
    *(
        b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path
        for path in (b"/", b"/api/articles/lamps1", b"/api/graph/lamps1?hops=2", b"/static/", b"/metrics")
    ),
)
# The command waits longer for a slow client than a trial can.
_SERVE = """
import sys
from pathlib import Path
from statgraph.service.config import ServiceConfig
from statgraph.service.server import serve
run, port, marks, timeout_s = sys.argv[1:]
config = ServiceConfig(timeout_s=float(timeout_s))
said = lambda line: print(line, flush=True)
serve({Path(run): Path(marks)}, config, host="127.0.0.1", port=int(port), device="cpu", announce=said)
"""


class Served:
    """A service of a run on a port of this machine, from the moment that it answers until the block ends.

    Args:
        run: the run folder.
        folder: where its log and its marks go.
        port: to listen on; 0 for any that is free.
        timeout_s: how long a question may take.
    """

    def __init__(self, run: Path, folder: Path, *, port: int = 0, timeout_s: float = 30.0):
        folder.mkdir(exist_ok=True)
        self.log, self.marks = folder / "service.log", folder / "marks.jsonl"
        command = [sys.executable, "-c", _SERVE, str(run), str(port), str(self.marks), str(timeout_s)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=REPO)
        line = self.process.stdout.readline()
        if not line.startswith("Serving"):
            self.process.kill()
            raise RuntimeError(f"the service did not start: {line}{self.log.read_text()[-2000:]}")
        self.port = int(line.rpartition(":")[2])

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.end(signal.SIGTERM)

    def end(self, how: signal.Signals) -> None:
        """End it by a signal, by SIGKILL if it stays."""
        self.process.send_signal(how)
        try:
            self.process.wait(_WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def ask(self, address: str, body: object) -> tuple[int, dict]:
        """Return (status, answer without how long it took) of a request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_WAIT_S)
        try:
            connection.request("POST", address, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = json.loads(answer.read())
        finally:
            connection.close()
        content.pop("took_ms", None)
        return answer.status, content

    def search(self, question: str) -> tuple[int, dict]:
        """Return (status, answer) of a question."""
        return self.ask("/api/search", {"question": question, "k": 5})

    def faults(self, known: dict[str, dict]) -> Iterator[str]:
        """Yield the questions answered otherwise, and the bugs that its log shows: 500, a traceback, a line that
        is no JSON."""
        for question in QUESTIONS:
            if (answered := self.search(question)) != (200, known[question]):
                yield f"'{question}' is answered otherwise ({answered[0]})"
        for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                logged = json.loads(line)
            except ValueError:
                yield f"log: {line[:200]}"
                continue
            if logged.get("status") == 500 or "Traceback" in logged.get("error", ""):
                yield f"log: {line[-300:]}"


class Readers:
    """Threads that search and mark while the service is restarted or its run exchanged.

    Attributes:
        service: the one to ask, as it is now.
        marked: the questions of the marks that were confirmed.
        problems: the answers that are none of the known ones.
    """

    def __init__(self, service: Served, known: list[dict[str, dict]], *, restarts: bool):
        self.service, self._known, self._restarts = service, known, restarts
        self.marked, self.problems = set(), []

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask until the block ends."""
        ended = threading.Event()
        threads = [threading.Thread(target=self._read, args=[reader, ended]) for reader in range(_READERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    def _read(self, reader: int, ended: threading.Event) -> None:
        for number in itertools.count(reader):
            if ended.is_set():
                return
            try:
                self._ask(QUESTIONS[number % len(QUESTIONS)], f"{reader}/{number}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                if not self._restarts:  # refused or broken off
                    self.problems.append(f"an answer was lost ({type(error).__name__})")
                time.sleep(0.02)

    def _ask(self, question: str, marked: str) -> None:
        status, answer = self.service.search(question)
        if self._restarts and status == 503:  # the run is loading
            time.sleep(0.02)
            return
        if status != 200 or answer not in [known[question] for known in self._known]:
            self.problems.append(f"'{question}': {status}, answered otherwise")
        mark = {"question": marked, "article_id": "lamps1", "right": True}
        if self.service.ask("/api/feedback", mark)[0] == 201:
            self.marked.add(marked)


class Trial:
    """What the cases of a campaign share: two runs, and what a service of each answers."""

    def __init__(self, material: Material):
        self.material, self.folder = material, material.folder

    @cached_property
    def known(self) -> dict[str, dict]:
        """Return the answer of the run to each question."""
        return self._answers(self.material.run("bm25"))

    @cached_property
    def known_amended(self) -> dict[str, dict]:
        """Return the answer of the run of the amended law to each question."""
        return self._answers(self.material.run("bm25", amended=True))

    def _answers(self, run: Path) -> dict[str, dict]:
        with Served(run, self.folder / "service known") as service:
            return {question: service.search(question)[1] for question in QUESTIONS}

    def odd(self, rng: random.Random) -> Iterator[str]:
        """Requests that are damaged somewhere: in their line, headers, length or body."""
        requests = [(damaged(rng.choice(_REQUESTS), rng), rng.random() < 0.3) for _ in range(40)]
        with Served(self.material.run("bm25"), self.folder / "service odd", timeout_s=4.0) as service:
            with ThreadPoolExecutor(len(requests)) as threads:
                statuses = list(threads.map(lambda request: _status(service.port, *request), requests))
            for (sent, _), status in zip(requests, statuses, strict=True):
                if status not in (None, 200, 201, *range(400, 500)):
                    yield f"{sent[:200]!r}: answered {status}"
            yield from service.faults(self.known)

    def reload(self, rng: random.Random) -> Iterator[str]:
        """A link that leads to one run, to the other, to none, with SIGHUP each time, while readers ask."""
        folder = self.folder / f"reload {rng.random()}"
        folder.mkdir()
        runs = [self.material.run("bm25", amended=amended) for amended in (False, True)]
        known = [self.known, self.known_amended]
        link = folder / "current"
        _lead_to(link, runs[0])
        with Served(link, folder / "service") as service:
            readers, problems = Readers(service, known, restarts=False), []
            with readers.asking():
                for turn in range(1, 4):
                    _lead_to(link, folder / "none")
                    service.process.send_signal(signal.SIGHUP)
                    end = time.monotonic() + _WAIT_S
                    while service.log.read_text().count('"level": "error"') != turn and time.monotonic() < end:
                        time.sleep(0.02)
                    _lead_to(link, runs[turn % 2])
                    service.process.send_signal(signal.SIGHUP)
                    said = service.process.stdout.readline()
                    if "as it is now" not in said:
                        problems.append(f"said '{said}'")
                    problems += [f"after reload {turn}: {fault}" for fault in service.faults(known[turn % 2])]
        yield from (problem for problem in (*problems, *readers.problems) if '"level": "error"' not in problem)

    def killed(self, rng: random.Random) -> Iterator[str]:
        """SIGKILL at any moment and a supervisor that starts the service again, while readers ask and mark."""
        folder = self.folder / f"killed {rng.random()}"
        run = self.material.run("bm25")
        service = Served(run, folder)
        readers = Readers(service, [self.known], restarts=True)
        with readers.asking():
            for _ in range(2):
                time.sleep(rng.random())
                service.end(signal.SIGKILL)
                readers.service = service = Served(run, folder, port=service.port)
            time.sleep(rng.random() / 2)
        with service:
            yield from (*readers.problems, *service.faults(self.known))
        kept = set()
        for line in service.marks.read_text().splitlines() if service.marks.exists() else ():
            with suppress(ValueError):  # the writing of a mark that was never confirmed broke off
                kept.add(json.loads(line)["question"])
        if lost := readers.marked - kept:
            yield f"{len(lost)} marks were confirmed and are missing"


def service(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many cases of what clients, operators and bad luck do to a service."""
    trial = Trial(material)
    kinds = {"odd": trial.odd, "reload": trial.reload, "killed": trial.killed}
    names = only or tuple(kinds)

    def case(rng: random.Random, number: int) -> Iterator[str]:
        name = names[number % len(names)]
        yield from (f"{name}: {problem}" for problem in kinds[name](rng))

    return tried("service", case, cases=cases, seed=seed)


def _status(port: int, sent: bytes, ends: bool) -> int | None:
    """Return the status of the answer to what is sent, None where there is none; 0 where it is no HTTP."""
    line = b""
    with socket.create_connection(("127.0.0.1", port), timeout=_WAIT_S) as client:
        with suppress(OSError):  # refused before all was sent
            client.sendall(sent)
            if ends:
                client.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while b"\r\n" not in line and (got := client.recv(4096)):
                line += got
    if not line:
        return None
    words = line.split(b" ", 2)
    return int(words[1]) if words[0] == b"HTTP/1.1" and words[1].isdigit() else 0


def _lead_to(link: Path, target: Path) -> None:
    beside = link.with_name("next")
    beside.symlink_to(target)
    os.replace(beside, link)
