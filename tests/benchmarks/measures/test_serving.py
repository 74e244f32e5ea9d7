"""The rows of a load, by hand, and the counting of a load on a service that fails."""

import json
import os
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from benchmarks.measures.serving import CLIENTS, Load, resident_mib, rows_of, under_load, warm_up


def test_rows_of_a_good_load():
    seconds = [number / 1000 for number in range(1, 100)]  # 1 to 99 ms
    errors, times, memory = rows_of("x", Load(seconds, Counter({200: 99, 503: 4}), [100.0] * 10 + [101.0] * 10, 3.0))
    assert (errors.reached, errors.holds) == ("0 errors, 4 times 503, 99 answers", True)
    assert times.reached == "33.0 questions a second; p50 50 ms, p95 95 ms"
    assert (memory.reached, memory.holds) == ("100 MiB, then 101 MiB (+1.0%)", True)
    assert errors.figures["outcomes"] == {"200": 99, "503": 4}


def test_errors_and_growth_do_not_hold():
    outcomes = Counter({200: 2, 500: 1, "no answer": 2, "too few hits": 1})
    errors, _, memory = rows_of("x", Load([0.1, 0.2], outcomes, [100.0, 103.0], 1.0))
    assert (errors.reached, errors.holds) == ("4 errors, 0 times 503, 2 answers", False)
    assert (memory.reached, memory.holds) == ("100 MiB, then 103 MiB (+3.0%)", False)


class _Failing(BaseHTTPRequestHandler):
    asked: ClassVar[list[bytes]] = []

    def do_POST(self):
        self.asked.append(self.rfile.read(int(self.headers["Content-Length"])))
        body = b'{"hits": []}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class _Crowded(ThreadingHTTPServer):
    request_queue_size = 2 * CLIENTS


def test_an_answer_without_hits_is_an_error():
    with _Crowded(("127.0.0.1", 0), _Failing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        questions = [f"q{number}" for number in range(CLIENTS + 1)]
        warm_up(server.server_port, questions)
        assert sorted(json.loads(body)["question"] for body in _Failing.asked) == sorted(questions)
        load = under_load(os.getpid(), server.server_port, ["q"], 0.05)
        server.shutdown()
    assert load.seconds == []
    assert set(load.outcomes) == {"too few hits"}
    assert load.outcomes.total() >= CLIENTS
    assert load.memory_mib[0] > 1


def test_memory_of_a_process_that_is_not_there():
    with pytest.raises((RuntimeError, OSError)):
        resident_mib(2**22 + 1)
