"""The service: requests by its own document, odd bytes, clients that are slow, half there or thousands, a run that is
exchanged, a process that is killed and restarted, full queues."""

from __future__ import annotations

import http.client
import json
import os
import random
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.trials.campaign import Outcome, tried
from tests.trials.child import command
from tests.trials.clients import QUESTIONS, Readers, connected, search_request, status, status_of
from tests.trials.documented import requests_by_the_document
from tests.trials.material import Material
from tests.trials.odd_requests import odd_request
from tests.trials.served import WAIT_S, Served, asked, searched

CONNECTIONS = 10_000
_KEPT_HANDLES = 500  # of this process, for all but its connections
_AT_ONCE = 64
_REFUSALS = range(400, 500)
_SLOW_S = 4.0


@dataclass
class Trial:
    """What the cases of a campaign share: the services, each started when it is first asked for, and what they answer.

    Attributes:
        material: laws and runs.
        figures: what is counted.
    """

    material: Material
    services: ExitStack
    figures: Counter[str] = field(default_factory=Counter)
    _started: dict[str, Served] = field(default_factory=dict)
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

    def served(self, name: str, **settings: object) -> Served:
        """Return a service of the run with some settings, the same for each name."""
        if name not in self._started:
            folder = self.material.folder / f"service {name}"
            self._started[name] = self.services.enter_context(Served(self.run, folder, **settings))
        return self._started[name]

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


def service(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many cases of what clients, operators and bad luck do to a service."""
    kinds = only or tuple(KINDS)
    with ExitStack() as services:
        trial = Trial(material, services)

        def case(rng: random.Random, number: int) -> Iterator[str]:
            kind = kinds[number % len(kinds)]
            yield from (f"{kind}: {problem}" for problem in KINDS[kind](trial, rng))

        return tried("service", case, cases=cases, seed=seed, figures=trial.figures)


def _documented(trial: Trial, rng: random.Random) -> Iterator[str]:
    """Requests that the OpenAPI document allows and forbids, the next made of the last one's answer."""
    n_requests, problems = requests_by_the_document(trial.run, trial.material.folder, rng)
    trial.figures["requests by the document"] += n_requests
    yield from problems


def _odd(trial: Trial, rng: random.Random) -> Iterator[str]:
    """Bytes that are nearly HTTP, values that are nearly right."""
    served = trial.served("odd", timeout_s=_SLOW_S)
    for _ in range(40):
        name, sent, ends = odd_request(rng)
        trial.figures["odd requests"] += 1
        answered = status_of(served.port, sent, ends=ends)
        if answered not in (None, 200, 201, *_REFUSALS):
            yield f"{name}: answered {answered}"
    yield from trial.differing(served)


def _slow(trial: Trial, rng: random.Random) -> Iterator[str]:
    """Clients that write by bytes, that never end, that read late or not at all, while others ask."""
    served = trial.served("slow", timeout_s=_SLOW_S)
    body = json.dumps({"question": QUESTIONS[0], "k": 5}).encode()
    request = search_request(body)
    whole = len(request)

    def write(slow: socket.socket) -> int | None:
        for start in range(0, whole, 16):
            slow.sendall(request[start : start + 16])
            time.sleep(_SLOW_S / 2 / (whole / 16))
        return status(slow)

    def stop(slow: socket.socket) -> int | None:
        slow.sendall(request[: rng.randrange(whole)])
        return status(slow)

    def read(slow: socket.socket) -> int | None:
        slow.sendall(b"GET /static/vendor/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        time.sleep(rng.random() * _SLOW_S / 2)
        answer = b""
        while got := slow.recv(65536):
            answer += got
        return 200 if len(answer) > 1_000_000 else len(answer)

    ways = {write: {200}, stop: {None, 408}, read: {200}}
    drawn = rng.choices(list(ways), k=24)
    with ThreadPoolExecutor(len(drawn) + 1) as threads:
        met = [threads.submit(connected, served.port, way) for way in drawn]
        others = [searched(served.port, question)[0] for question in QUESTIONS]
        for way, outcome in zip(drawn, met, strict=True):
            trial.figures["slow clients"] += 1
            if outcome.result() not in ways[way]:
                yield f"{way.__name__}: {outcome.result()}"
    if set(others) != {200}:
        yield f"other readers got {Counter(others)}"
    yield from trial.differing(served)


def _half_open(trial: Trial, rng: random.Random) -> Iterator[str]:
    """Clients that vanish, end their side or reset at any byte of a request."""
    served = trial.served("half-open", timeout_s=_SLOW_S)
    before = _settled_handles(served)
    request = search_request(json.dumps({"question": QUESTIONS[0], "k": 5}).encode())
    for _ in range(60):
        trial.figures["half-open connections"] += 1
        client = socket.create_connection(("127.0.0.1", served.port), timeout=WAIT_S)
        sent = rng.choice((len(request), rng.randrange(len(request))))
        with client, suppress(OSError):
            client.sendall(request[:sent])
            end = rng.choice(("closed", "reset", "ended"))
            if end == "reset":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            elif end == "ended":
                client.shutdown(socket.SHUT_WR)
                answered = status(client)
                if answered != (200 if sent == len(request) else None):
                    yield f"its side ended after {sent} of {len(request)} bytes: {answered}"
    after = _settled_handles(served, most=before)
    if after > before:
        yield f"handles grew from {before} to {after}"
    yield from trial.differing(served)


def _crowd(trial: Trial, rng: random.Random) -> Iterator[str]:
    """As many connections as this machine allows, at most 10,000, of which some ask; or more than the service may."""
    few = rng.random() < 0.3
    handles = 100 if few else 0
    served = trial.served("few handles" if few else "crowd", handles=handles)
    may = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _KEPT_HANDLES
    wanted = 300 if few else min(CONNECTIONS, may)
    before, size = _settled_handles(served), served.size
    with ExitStack() as held:
        clients = [
            held.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=WAIT_S))
            for _ in range(wanted)
        ]
        askers = rng.sample(clients[:40] if few else clients, 40)
        for client in askers:
            client.sendall(search_request(json.dumps({"question": QUESTIONS[0], "k": 5}).encode()))
        statuses = Counter(status(client) for client in askers)
        if not few:
            key = "most connections at once"
            trial.figures[key] = max(trial.figures[key], served.size.handles - before)
            trial.figures["MiB for them"] = round(served.size.own_mib - size.own_mib)
        if set(statuses) - {200, 503} or not statuses[200]:
            yield f"{wanted:,} connections: {dict(statuses)}"
    after = _settled_handles(served, most=before)
    if after > before:
        yield f"handles grew from {before} to {after}"
    if few:  # the log tells of the handles that there are not
        for question in QUESTIONS:
            if searched(served.port, question) != (200, trial.known(trial.run)[question]):
                yield f"afterwards '{question}' is answered otherwise"
    else:
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
            _led_to(link, folder / "none")
            served.process.send_signal(signal.SIGHUP)
            _wait(lambda turn=turn: served.log.read_text().count('"level": "error"') == turn)
            _led_to(link, runs[turn % 2])
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
    with Readers(served.port, [trial.known(trial.run)], retries=True, marks=True) as readers:
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
        yield f"{len(lost)} marks were confirmed and are not there"


def _queue(trial: Trial, rng: random.Random) -> Iterator[str]:
    """More questions at once than may wait, or less time than a search takes."""
    full = rng.random() < 0.5
    served = trial.served(f"queue {full}", **({"most_waiting": 1} if full else {"timeout_s": 0.002}))
    allowed = {200, 503} if full else {200, 408, 504}
    ask = [rng.choice(QUESTIONS) for _ in range(_AT_ONCE)]
    known = trial.known(trial.run)

    def answer(question: str):
        with suppress(OSError, http.client.HTTPException):  # its headers did not arrive in time either
            return asked(served.port, "POST", "/api/search", {"question": question, "k": 5})

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        answers = list(threads.map(answer, ask))
    for question, found in zip(ask, answers, strict=True):
        if found is None:
            if full:
                yield "no answer"
            continue
        answered, said, headers = found
        trial.figures[f"{'full' if full else 'short of time'}: {answered}"] += 1
        if answered not in allowed or (answered != 200 and headers["Content-Type"] != "application/problem+json"):
            yield f"status {answered}: {said}"
        if answered == 503 and headers["Retry-After"] != "1":
            yield "503 without a time to retry"
        if answered == 200 and said != known[question]:
            yield f"'{question}' is answered otherwise"
    yield from served.faults()


KINDS: dict[str, Callable[[Trial, random.Random], Iterator[str]]] = {
    "documented": _documented,
    "odd": _odd,
    "slow": _slow,
    "half-open": _half_open,
    "crowd": _crowd,
    "reload": _reload,
    "killed": _killed,
    "queue": _queue,
}


def _led_to(link: Path, target: Path) -> None:
    beside = link.with_name("next")
    beside.symlink_to(target)
    os.replace(beside, link)


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


def _settled_handles(served: Served, most: int = 0) -> int:
    """Return the handles of a service, once they are no more than `most` or, at the latest, after a while."""
    end = time.monotonic() + 3 * _SLOW_S
    while (handles := served.size.handles) > most and most and time.monotonic() < end:
        time.sleep(0.05)
    return handles
