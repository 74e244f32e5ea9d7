"""The service: damaged requests, a run that is exchanged, a process that is killed and restarted.

Slow and broken clients, full queues and requests by the OpenAPI document are in tests/service (test_connection.py,
test_state.py; test_problems.py with STATGRAPH_API_CASES=2000)."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.town import town
from tests.trials.campaign import Outcome, tried
from tests.trials.child import command
from tests.trials.damage import damaged
from tests.trials.material import Material
from tests.trials.served import WAIT_S, Served, asked, searched

QUESTIONS = tuple(question.text for question in town().questions)
_READERS = 8
_SLOW_S = 4.0
_BODY = b'{"question": "May I keep dogs?"}'
_REQUESTS = (
    b"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY),
    *(
        b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path
        for path in (b"/", b"/api/articles/lamps1", b"/api/graph/lamps1?hops=2", b"/static/", b"/metrics")
    ),
)


@dataclass
class Trial:
    """What the cases of a campaign share: the service, started when it is first asked for, and what they answer.

    Attributes:
        material: laws and runs.
        figures: what is counted.
    """

    material: Material
    services: ExitStack
    figures: Counter[str] = field(default_factory=Counter)
    _known: dict[Path, dict[str, dict]] = field(default_factory=dict)

    @property
    def run(self) -> Path:
        """Return the run that is served."""
        return self.material.run("bm25")

    @property
    def other_run(self) -> Path:
        """Return a run of the law after its amendment."""
        folder = self.material.folder / "runs" / "amended"
        if not folder.is_dir():
            training = self.material.training("bm25", self.material.amended_town)
            done = command([*training, "--out", folder], self.material.folder)
            if done.code:
                raise RuntimeError(f"the amended town: not trained ({done.end})")
        return folder

    @cached_property
    def served(self) -> Served:
        """Return a service of the run, the same for all cases."""
        folder = self.material.folder / "service odd"
        return self.services.enter_context(Served(self.run, folder, timeout_s=_SLOW_S))

    def known(self, run: Path) -> dict[str, dict]:
        """Return what a service of a run answers to each question, one after the other."""
        if run not in self._known:
            with Served(run, self.material.folder / "service known") as service:
                self._known[run] = {question: searched(service.port, question)[1] for question in QUESTIONS}
        return self._known[run]

    def differing(self, service: Served) -> Iterator[str]:
        """Yield the questions that a service of the run answers otherwise than it should, and the faults it logs."""
        for question in QUESTIONS:
            answered = searched(service.port, question)
            if answered != (200, self.known(self.run)[question]):
                yield f"afterwards '{question}' is answered otherwise ({answered[0]})"
        yield from service.faults()


class Readers:
    """Threads that ask until the block ends, each question answered as one of the runs that are known answers it.

    Args:
        restarts: whether the service is restarted meanwhile: they also mark, and ask again where a connection is
            refused or breaks off, or a run is loading.

    Attributes:
        answers: how many they got.
        marked: the questions of the marks that were confirmed.
        problems: what was wrong.
    """

    def __init__(self, port: int, known: list[dict[str, dict]], *, restarts: bool = False):
        self._port, self._known, self._restarts = port, known, restarts
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
        for number in itertools.count(reader):
            if self._ended.is_set():
                return
            try:
                self._ask(QUESTIONS[number % len(QUESTIONS)], f"{reader}/{number}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                if not self._restarts:
                    self.problems.append(f"an answer was lost ({type(error).__name__})")
                time.sleep(0.02)

    def _ask(self, question: str, marked: str) -> None:
        status, answer = searched(self._port, question)
        if self._restarts and status == 503:  # the run is loading
            time.sleep(0.02)
            return
        self.answers += 1
        if status != 200 or answer not in [known[question] for known in self._known]:
            self.problems.append(f"'{question}': {status}, answered otherwise")
        mark = {"question": marked, "article_id": "lamps1", "right": True}
        if self._restarts and asked(self._port, "POST", "/api/feedback", mark)[0] == 201:
            self.marked.add(marked)


def service(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many cases of what clients, operators and bad luck do to a service."""
    kinds = only or tuple(KINDS)
    with ExitStack() as services:
        trial = Trial(material, services)

        def case(rng: random.Random, number: int) -> Iterator[str]:
            kind = kinds[number % len(kinds)]
            yield from (f"{kind}: {problem}" for problem in KINDS[kind](trial, rng))

        return tried("service", case, cases=cases, seed=seed, figures=trial.figures)


def _odd(trial: Trial, rng: random.Random) -> Iterator[str]:
    """Requests that are damaged somewhere: in their line, headers, length or body."""
    served = trial.served

    def answered(sent: bytes, *, ends: bool) -> int | None:
        with socket.create_connection(("127.0.0.1", served.port), timeout=WAIT_S) as client:
            with suppress(OSError):  # refused before all was sent
                client.sendall(sent)
                if ends:
                    client.shutdown(socket.SHUT_WR)
            return _status(client)

    requests = [(damaged(rng.choice(_REQUESTS), rng), rng.random() < 0.3) for _ in range(40)]
    trial.figures["odd requests"] += len(requests)
    with ThreadPoolExecutor(len(requests)) as threads:
        statuses = list(threads.map(lambda request: answered(request[0], ends=request[1]), requests))
    for (sent, _), status in zip(requests, statuses, strict=True):
        if status not in (None, 200, 201, *range(400, 500)):
            yield f"{sent[:200]!r}: answered {status}"
    yield from trial.differing(served)


def _reload(trial: Trial, rng: random.Random) -> Iterator[str]:
    """A link that leads to one run, to the other, to none, with SIGHUP each time, while readers ask."""
    folder = trial.material.folder / f"reload {rng.random()}"
    folder.mkdir()
    runs = (trial.run, trial.other_run)
    known = [trial.known(run) for run in runs]
    link = folder / "current"
    link.symlink_to(runs[0])
    with Served(link, folder / "service") as served, Readers(served.port, known) as readers:
        for turn in range(1, 4):
            _lead_to(link, folder / "none")
            served.process.send_signal(signal.SIGHUP)
            _wait(lambda turn=turn: served.log.read_text().count('"level": "error"') == turn)
            _lead_to(link, runs[turn % 2])
            served.process.send_signal(signal.SIGHUP)
            said = served.said()
            if "as it is now" not in said:
                yield f"said '{said}'"
            for question in QUESTIONS:
                if searched(served.port, question) != (200, known[turn % 2][question]):
                    yield f"after reload {turn}: '{question}' is not answered from the new run"
        problems = [problem for problem in served.faults() if '"level": "error"' not in problem]
    trial.figures["answers while reloading"] += readers.answers
    yield from (*readers.problems, *problems)


def _killed(trial: Trial, rng: random.Random) -> Iterator[str]:
    """SIGKILL at any moment and a supervisor that starts the service again, while readers ask and mark."""
    folder = trial.material.folder / f"killed {rng.random()}"
    served = Served(trial.run, folder)
    with Readers(served.port, [trial.known(trial.run)], restarts=True) as readers:
        for _ in range(2):
            time.sleep(rng.random())
            served.process.kill()
            served.process.wait()
            served.process.stdout.close()
            served = Served(trial.run, folder, port=served.port)
        time.sleep(rng.random() / 2)
    with served:
        yield from trial.differing(served)
    trial.figures["answers between kills"] += readers.answers
    trial.figures["marks between kills"] += len(readers.marked)
    yield from readers.problems
    kept = set()
    for line in served.marks.read_text().splitlines() if served.marks.exists() else ():
        with suppress(ValueError):  # the writing of a mark that was never confirmed broke off
            kept.add(json.loads(line)["question"])
    if lost := readers.marked - kept:
        yield f"{len(lost)} marks were confirmed and are missing"


KINDS: dict[str, Callable[[Trial, random.Random], Iterator[str]]] = {
    "odd": _odd,
    "reload": _reload,
    "killed": _killed,
}


def _status(client: socket.socket) -> int | None:
    """Return the status of an answer, None where there is none; 0 where it is no HTTP."""
    line = b""
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


def _wait(condition: Callable[[], bool], seconds: float = WAIT_S) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
