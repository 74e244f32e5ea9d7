"""A law embedded on Ray, its vectors on S3, and two services while the law changes.

    make trial TRIAL="readers --corpus DIR --run DIR [--clients 16] [--seconds 20]"    # where `make engines` has run

Every step is a command that a user would run; the S3-compatible server is moto on this machine. Each answer is compared
with the run's own index. Prints the figures as JSON, and exits with 1 if an answer was an error or that of no version.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from statgraph import Retriever
from statgraph.corpus.records import Corpus
from statgraph.corpus.store import read_corpus, write_corpus
from tests.trials.served import asked

LAUNCHER = Path(__file__).parents[2] / "cli.py"
K, QUESTIONS, READERS = 10, 100, 2
AMENDED = 10  # every tenth article
WRONG = ("mixed", "late", "early")  # answers
SHARD_KIB = 2048
TABLE, VECTORS = "s3://law/fr", "s3://law/vectors"

Answer = list[tuple[str, float]]


class Clients:
    """Threads that ask one question after another, each over a connection of its own, of several services in turn.

    Attributes:
        ports: of the services; who asks from now on asks these.
        answers: (when it was asked and when answered, number of the question, hits).
        errors: a line each.
    """

    def __init__(self, n_clients: int, ports: list[int], questions: list[str]):
        self.ports = ports
        self.answers: list[tuple[tuple[float, float], int, Answer]] = []
        self.errors: list[str] = []
        self._questions, self._ended = questions, threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(n_clients)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Let each finish its question."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, first: int) -> None:
        number = first
        while not self._ended.is_set():
            number = (number + 1) % len(self._questions)
            start, ports = time.monotonic(), self.ports
            try:
                body = {"question": self._questions[number], "k": K}
                status, answer, _ = asked(ports[number % len(ports)], "POST", "/api/search", body)
                hits = [(hit["article_id"], hit["score"]) for hit in answer["hits"]] if status == 200 else None
                if hits is None:
                    raise RuntimeError(f"status {status}: {answer}")
                self.answers.append(((start, time.monotonic()), number, hits))
            except Exception as error:  # whatever goes wrong is what this looks for
                self.errors.append(f"{type(error).__name__}: {error}")


def run_command(*words: object) -> float:
    """Run `statgraph`, show what it prints, and return its seconds."""
    start = time.monotonic()
    command = [sys.executable, str(LAUNCHER), *map(str, words)]
    print(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout, file=sys.stderr, flush=True)
    return round(time.monotonic() - start, 1)


@contextmanager
def reader(run: Path) -> Iterator[int]:
    """Serve a run from the table on S3 until the block ends, and yield the port."""
    command = [sys.executable, str(LAUNCHER), "serve", "--run", str(run), "--port", "0", "--no-feedback"]
    command += ["--engine", "lance", "--from", TABLE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        try:
            line = service.stdout.readline()
            if not line:
                raise RuntimeError(f"{' '.join(command)}: ended before it was ready")
            yield int(line.rpartition(":")[2])
        finally:
            service.send_signal(signal.SIGTERM)


def local_answers(run: Path, questions: list[str]) -> list[Answer]:
    """Return the hits of a run's own index."""
    answers = Retriever.load(run, device="cpu").search_many(questions, K)
    return [[(hit.article_id, hit.score) for hit in hits] for hits in answers]


def amended(corpus: Corpus) -> Corpus:
    """Return a corpus with every tenth article's text doubled by that of the article before."""
    articles = list(corpus.articles)
    for row in range(AMENDED, len(articles), AMENDED):
        articles[row] = replace(articles[row], text=f"{articles[row].text} {corpus.articles[row - 1].text}")
    return replace(corpus, articles=tuple(articles))


def trial(corpus_folder: Path, run: Path, work: Path, n_clients: int, seconds: float) -> dict:
    """Return the figures of the whole way. Wrong are `errors`, `mixed` answers, which are of no version, `late` ones of
    the old version to who asked after the change, and `early` ones of the new version before it."""
    corpus, one, two, figures = read_corpus(corpus_folder), work / "one", work / "two", {}
    questions = [question.text for question in corpus.questions][:QUESTIONS]
    embed = ("embed", "--run", run, "--shard", SHARD_KIB)
    figures["embed_s"] = run_command(*embed, "--corpus", corpus_folder, "--out", f"{VECTORS}/1")
    options = ("--corpus", corpus_folder, "--full", "--vectors", f"{VECTORS}/1", "--out", one)
    figures["update_s"] = run_command("update", "--run", run, *options)
    index = ("index", "--engine", "lance", "--to", TABLE, "--run")
    figures["index_s"] = run_command(*index, one)
    before = local_answers(one, questions)
    figures["as_trained"] = sum(map(_same_hits, local_answers(run, questions), before))
    with ExitStack() as old, ExitStack() as new:
        clients = Clients(n_clients, [old.enter_context(reader(one)) for _ in range(READERS)], questions)
        try:
            time.sleep(seconds)
            write_corpus(amended(corpus), work / "law")
            figures["again_embed_s"] = run_command(*embed, "--corpus", work / "law", "--out", f"{VECTORS}/2")
            options = ("--corpus", work / "law", "--vectors", f"{VECTORS}/2", "--out", two)
            figures["again_update_s"] = run_command("update", "--run", one, *options)
            figures["again_index_s"] = run_command(*index, two)
            ports = [new.enter_context(reader(two)) for _ in range(READERS)]
            clients.ports, switched = ports, time.monotonic()
            time.sleep(seconds)
        finally:
            clients.end()
    return figures | _judged(clients, before, local_answers(two, questions), switched)


def _same_hits(answer: Answer, expected: Answer) -> bool:
    """Return whether two answers name the same articles in the same order, with scores equal to 1e-4."""
    return [hit for hit, _ in answer] == [hit for hit, _ in expected] and all(
        abs(score - other) < 1e-4 for (_, score), (_, other) in zip(answer, expected, strict=True)
    )


def _judged(clients: Clients, before: list[Answer], after: list[Answer], switched: float) -> dict:
    kinds: Counter[str] = Counter()
    for (start, end), number, answer in clients.answers:
        old, new = _same_hits(answer, before[number]), _same_hits(answer, after[number])
        if old == new:
            kinds["either" if old else "mixed"] += 1
        elif old:
            kinds["late" if start > switched else "old"] += 1
        else:
            kinds["early" if end < switched else "new"] += 1
    return {
        "answers": len(clients.answers),
        "errors": len(clients.errors),
        "first_errors": clients.errors[:3],
        "questions_that_changed": sum(not _same_hits(*pair) for pair in zip(before, after, strict=True)),
        **{name: kinds[name] for name in ("old", "new", "either", *WRONG)},
    }


def main() -> int:
    """Run the trial; return 1 if it failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True, help="a run of that corpus")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20, help="how long to ask before and after the change")
    options = parser.parse_args()
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    try:
        endpoint = "http://{}:{}".format(*server.get_host_and_port())
        keys = {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "REGION": "us-east-1", "ENDPOINT_URL": endpoint}
        os.environ.update({f"AWS_{name}": value for name, value in keys.items()}, RAY_worker_niceness="0")
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/law", method="PUT")).close()
        with tempfile.TemporaryDirectory(prefix="statgraph-readers-") as work:
            figures = trial(options.corpus, options.run, Path(work), options.clients, options.seconds)
    finally:
        server.stop()
    print(json.dumps(figures, indent=2))
    return int(any(figures[name] for name in ("errors", *WRONG)) or figures["as_trained"] < QUESTIONS)


if __name__ == "__main__":
    sys.exit(main())
