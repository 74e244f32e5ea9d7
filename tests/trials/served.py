"""`statgraph serve` as a process that trials start, ask, measure and kill.

    python -m tests.trials.served RUN PORT SETTINGS

Serves a run with settings of `ServiceConfig` in JSON."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPO = Path(__file__).parents[2]
WAIT_S = 60.0
JSON = {"Content-Type": "application/json"}


class Served:
    """A service of a run on a port of this machine, from the moment that it answers until the block ends.

    Args:
        run: the run folder.
        folder: where its log and its marks go.
        port: to listen on; 0 for any that is free.
        settings: of `ServiceConfig`.
    """

    def __init__(self, run: Path, folder: Path, *, port: int = 0, **settings: object):
        folder.mkdir(exist_ok=True)
        self.log, self.marks = folder / "service.log", folder / "marks.jsonl"
        given = json.dumps({"feedback": str(self.marks), **settings})
        command = [sys.executable, "-m", "tests.trials.served", str(run), str(port), given]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=REPO)
        line = self.said()
        if not line.startswith("Serving"):
            self.process.kill()
            raise RuntimeError(f"the service did not start: {line}{self.log.read_text()[-2000:]}")
        self.port = int(line.rpartition(":")[2])

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def said(self) -> str:
        """Return the next line that it prints."""
        return self.process.stdout.readline()

    def faults(self) -> list[str]:
        """Return the bugs that its log shows: a status of 500, a traceback, a line that is no JSON."""
        found = []
        for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                logged = json.loads(line)
            except ValueError:
                found.append(f"log: {line[:200]}")
                continue
            if logged.get("status") == 500 or "Traceback" in logged.get("error", ""):
                found.append(f"log: {line[-300:]}")
        return found


def asked(port: int, method: str, address: str, body: object = None) -> tuple[int, dict, http.client.HTTPMessage]:
    """Return (status, answer, headers) of a request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    try:
        connection.request(method, address, None if body is None else json.dumps(body), JSON)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status == 200:
            found.pop("took_ms", None)
        return answer.status, found, answer.headers
    finally:
        connection.close()


def searched(port: int, question: str) -> tuple[int, dict]:
    """Return (status, answer) of a search, without how long it took."""
    return asked(port, "POST", "/api/search", {"question": question, "k": 5})[:2]


def main(arguments: Sequence[str]) -> None:
    """Serve until a signal ends it."""
    from statgraph.service.config import ServiceConfig
    from statgraph.service.server import serve

    run, port, settings = arguments
    given = json.loads(settings)
    config = ServiceConfig(**{**given, "feedback": Path(given["feedback"])})
    announce = lambda line: print(line, flush=True)  # noqa: E731
    serve(Path(run), config, host="127.0.0.1", port=int(port), device="cpu", announce=announce)


if __name__ == "__main__":
    main(sys.argv[1:])
