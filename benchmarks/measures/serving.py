"""`statgraph serve` under load: 32 clients on loopback, each asking again as soon as it is answered."""

from __future__ import annotations

import http.client
import itertools
import json
import signal
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measuring import STATGRAPH, Row, Settings

CLIENTS, K = 32, 10
LOAD_S, QUICK_LOAD_S = 60.0, 3.0
EDGE_SAMPLES = 10  # seconds at the beginning and at the end whose memory is compared
_TIMEOUT_S = 60
_OK, _FULL = 200, 503
_NOTE = (
    f"k = {K}; the clients are threads of one Python process on the same cores. Before come an explained search, which "
    "waits for what the service makes ready after its start, and the same load, which is not counted."
)

Answer = tuple[int | str, float]  # the status, or what was wrong instead, and the seconds until it was read


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a run under load: errors, questions a second with their times, memory."""
    corpus, run = settings.corpus_and_run()
    load_s = QUICK_LOAD_S if settings.quick else LOAD_S
    questions = [question.text for question in corpus.questions][: 64 if settings.quick else None]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w") as log:
        command = [*STATGRAPH, "serve", "--run", str(run.folder), "--port", "0"]
        command += ["--feedback", str(Path(folder) / "feedback.jsonl")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as service:
            try:
                line = service.stdout.readline()
                if not line:
                    raise RuntimeError(f"{' '.join(command)}: ended before it was ready; mend it before it is timed")
                port = int(line.rpartition(":")[2])
                _search(_connection(port), questions[0], explain=True)
                _under_load(service.pid, port, questions, load_s)
                answers, memory_mib = _under_load(service.pid, port, questions, load_s)
            finally:
                service.send_signal(signal.SIGTERM)
    what = f"`statgraph serve`, {CLIENTS} clients for {load_s:g} s: {corpus.name}, {len(corpus.articles):,} articles"
    return _rows(f"{what}, {run.config.encoder.backbone}", answers, memory_mib, load_s)


def _rows(what: str, answers: Sequence[Answer], memory_mib: Sequence[float], load_s: float) -> list[Row]:
    outcomes = Counter(status for status, _ in answers)
    errors = outcomes.total() - outcomes[_OK] - outcomes[_FULL]
    edge = max(1, min(EDGE_SAMPLES, len(memory_mib) // 2))
    first, last = statistics.mean(memory_mib[:edge]), statistics.mean(memory_mib[-edge:])
    times = statistics.quantiles([seconds for status, seconds in answers if status == _OK], n=20)
    p50_ms, p95_ms, a_second = 1000 * times[9], 1000 * times[18], outcomes[_OK] / load_s
    counts = f"{errors} errors, {outcomes[_FULL]} times 503, {outcomes[_OK]:,} answers"
    figures = {"outcomes": {str(outcome): count for outcome, count in outcomes.items()}, "a_second": a_second}
    figures |= {"p50_ms": p50_ms, "p95_ms": p95_ms, "memory_mib": list(memory_mib)}
    speed = f"{a_second:.1f} questions a second; p50 {p50_ms:.0f} ms, p95 {p95_ms:.0f} ms"
    memory = f"{first:,.0f} MiB, then {last:,.0f} MiB ({last / first - 1:+.1%})"
    return [
        Row(what, "", counts, figures, _NOTE),
        Row(f"{what}: time", "", speed),
        Row(f"{what}: memory of the service", "", memory),
    ]


def _under_load(pid: int, port: int, questions: Sequence[str], load_s: float) -> tuple[list[Answer], list[float]]:
    """Return what 32 clients get within some seconds, and the service's memory in MiB, a sample a second."""
    end, memory_mib = time.monotonic() + load_s, []
    with ThreadPoolExecutor(1) as load:
        answers = load.submit(_by_clients, port, questions, end)
        while time.monotonic() < end:
            status = Path(f"/proc/{pid}/status").read_text().split()
            memory_mib.append(int(status[status.index("VmRSS:") + 1]) / 1024)
            time.sleep(1)
        return answers.result(), memory_mib


def _by_clients(port: int, questions: Sequence[str], end: float) -> list[Answer]:
    """Return what 32 clients get, who ask all questions until `end`, each beginning with another."""

    def answers_of(client: int) -> list[Answer]:
        connection, answers = _connection(port), []
        asked = itertools.islice(itertools.cycle(questions), client * len(questions) // CLIENTS, None)
        while time.monotonic() < end:
            answers.append(_search(connection, next(asked)))
        connection.close()
        return answers

    with ThreadPoolExecutor(CLIENTS) as clients:
        return list(itertools.chain(*clients.map(answers_of, range(CLIENTS))))


def _connection(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)


def _search(connection: http.client.HTTPConnection, question: str, *, explain: bool = False) -> Answer:
    """Return the answer of a search, after the pause that the service asks for where it is full."""
    body, start = json.dumps({"question": question, "k": K, "explain": explain}), time.monotonic()
    try:
        connection.request("POST", "/api/search", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        hits = json.loads(answer.read()).get("hits", ())
    except (OSError, http.client.HTTPException, ValueError):
        connection.close()
        time.sleep(1.0)
        return "no answer", 0.0
    seconds = time.monotonic() - start
    if answer.status != _OK:
        time.sleep(float(answer.headers.get("Retry-After", 0)))
    return ("too few hits" if answer.status == _OK and len(hits) != K else answer.status), seconds
