"""`statgraph serve` under load: 32 clients on loopback, each asking again as soon as it is answered."""

from __future__ import annotations

import http.client
import itertools
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rows import Row
from benchmarks.settings import Settings
from statgraph.runs.run import Run

LAUNCHER = Path(__file__).parents[2] / "cli.py"
CLIENTS, K = 32, 10
QUICK_WARM_UP = 64  # questions
LOAD_S, QUICK_LOAD_S = 60.0, 3.0
FLAT = 0.02  # growth of memory that counts as none
EDGE_SAMPLES = 10  # seconds at the beginning and at the end whose memory is compared
_TIMEOUT_S = 60
_OK, _FULL = 200, 503
_BROKEN = "no answer"


@dataclass(frozen=True)
class Load:
    """What the clients saw, and what the service took.

    Attributes:
        seconds: from a question to its whole answer, of each that was answered.
        outcomes: how often each status came, "no answer" among them.
        memory_mib: resident memory of the service, a sample a second.
        load_s: how long it lasted.
    """

    seconds: Sequence[float]
    outcomes: Counter[int | str]
    memory_mib: Sequence[float]
    load_s: float


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a run under load: errors, questions a second with their times, memory."""
    corpus, run = settings.corpus_and_run()
    load_s = QUICK_LOAD_S if settings.quick else LOAD_S
    questions = [question.text for question in corpus.questions]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w") as log:
        command = [sys.executable, str(LAUNCHER), "serve", "--run", str(run), "--port", "0"]
        command += ["--feedback", str(Path(folder) / "feedback.jsonl")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as service:
            try:
                line = service.stdout.readline()
                if not line:
                    raise RuntimeError(f"{' '.join(command)}: ended before it was ready; mend it before it is timed")
                port = int(line.rpartition(":")[2])
                _explained(port, questions[0])
                warm_up(port, questions[:QUICK_WARM_UP] if settings.quick else questions)
                load = under_load(service.pid, port, questions, load_s)
            finally:
                service.send_signal(signal.SIGTERM)
            if service.wait(_TIMEOUT_S):
                raise RuntimeError(f"{' '.join(command)}: ended with status {service.returncode}; mend it")
    backbone = Run.read(run).config.encoder.backbone
    what = f"`statgraph serve`, {CLIENTS} clients for {load_s:g} s: {corpus.name}, {len(corpus.articles):,} articles"
    return rows_of(f"{what}, {backbone}", load)


def rows_of(what: str, load: Load) -> list[Row]:
    """Return the rows of a load."""
    answered, full = load.outcomes[_OK], load.outcomes[_FULL]
    errors = load.outcomes.total() - answered - full
    edge = max(1, min(EDGE_SAMPLES, len(load.memory_mib) // 2))
    first, last = statistics.mean(load.memory_mib[:edge]), statistics.mean(load.memory_mib[-edge:])
    growth = last / first - 1
    times = statistics.quantiles(load.seconds, n=20) if len(load.seconds) > 1 else [*load.seconds] * 19
    p50_ms, p95_ms = 1000 * times[9], 1000 * times[18]
    figures = {
        "outcomes": {str(outcome): count for outcome, count in load.outcomes.items()},
        "a_second": answered / load.load_s,
        "p50_ms": p50_ms,
        "p95_ms": p95_ms,
        "memory_mib": list(load.memory_mib),
    }
    note = (
        f"k = {K}, HTTP/1.1 on loopback, connections kept; the clients are threads of one Python process on the same "
        "cores. Times are the client's, from sending a question to having read the answer. Before come an explained "
        "search, which waits for what the service makes ready after its start, and every question once: the vectors of "
        "their words and the texts of their hits are mapped from the run's files as they are first asked for."
    )
    counts = f"{errors} errors, {full} times 503, {answered:,} answers"
    speed = f"{answered / load.load_s:.1f} questions a second; p50 {p50_ms:.0f} ms, p95 {p95_ms:.0f} ms"
    memory = f"{first:,.0f} MiB, then {last:,.0f} MiB ({growth:+.1%})"
    flat = f"flat once every question was asked (at most {FLAT:.0%} more)"
    return [
        Row(what, "", "no error but 503", counts, errors == 0, figures, note),
        Row(f"{what}: time", "", "", speed, None),
        Row(f"{what}: memory of the service", "", flat, memory, growth <= FLAT),
    ]


def under_load(pid: int, port: int, questions: Sequence[str], load_s: float) -> Load:
    """Return what 32 clients see within some seconds, each beginning with another part of the questions."""
    end = time.monotonic() + load_s
    seconds: list[list[float]] = [[] for _ in range(CLIENTS)]
    outcomes: list[Counter[int | str]] = [Counter() for _ in range(CLIENTS)]

    def ask(client: int) -> None:
        first = client * len(questions) // CLIENTS
        own = itertools.cycle(questions[first:] + questions[:first])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
        while True:
            start = time.monotonic()
            status, retry_after_s = _asked(connection, next(own))
            outcomes[client][status] += 1
            if status == _OK:
                seconds[client].append(time.monotonic() - start)
            else:
                time.sleep(retry_after_s)
            if time.monotonic() >= end:
                break
        connection.close()

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    memory_mib = [resident_mib(pid)]
    while time.monotonic() < end:
        time.sleep(1)
        memory_mib.append(resident_mib(pid))
    for thread in threads:
        thread.join()
    return Load(list(itertools.chain(*seconds)), sum(outcomes, Counter()), memory_mib, load_s)


def warm_up(port: int, questions: Sequence[str]) -> None:
    """Have every question answered once, by 32 clients."""

    def ask(client: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
        for question in questions[client::CLIENTS]:
            _asked(connection, question)
        connection.close()

    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(ask, range(CLIENTS)))


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid}: has no memory; it has ended")


def _explained(port: int, question: str) -> None:
    """Have a question's hits explained: that is answered when the service has made ready what it does after the
    start."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    body = json.dumps({"question": question, "k": K, "explain": True})
    connection.request("POST", "/api/search", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != _OK:
        raise RuntimeError(f"a search with explanations: status {answer.status}; mend the service before it is timed")


def _asked(connection: http.client.HTTPConnection, question: str) -> tuple[int | str, float]:
    """Return (status or "no answer", seconds to wait before asking again) of a search."""
    body = json.dumps({"question": question, "k": K})
    try:
        connection.request("POST", "/api/search", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        hits = json.loads(answer.read()).get("hits", ())
    except (OSError, http.client.HTTPException, ValueError):
        connection.close()
        return _BROKEN, 1.0
    if answer.status == _OK and len(hits) != K:
        return "too few hits", 0.0
    return answer.status, float(answer.headers.get("Retry-After", 0))
