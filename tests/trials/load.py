"""Load: a service that as many readers as it can answer ask without a pause, a minute a case."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import quote, unquote

from statgraph.corpus.store import read_corpus
from statgraph.runs.article_store import ArticleStore
from tests.trials.campaign import Outcome, tried
from tests.trials.material import Material
from tests.trials.served import JSON, WAIT_S, Served, Size

READERS, PROCESSES = 32, 2
MINUTE_S = 60.0
_READ = 2000  # articles that are read
_FLAT = 0.02  # growth of memory that counts as none
_NEAR = 1e-4  # by which the score of a hit may differ with the questions that are searched together
# Of a hundred requests; the others are searches.
_MIX = {"explained": 2, "limited": 5, "article": 8, "graph": 2, "headings": 2, "mark": 1, "about": 1}


def load(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many minutes of full load; memory and handles are compared once a sixth of them is over.

    Args:
        only: a run folder, and the corpus folder whose questions are asked; the town's without them.
    """
    run, corpus = (Path(only[0]), Path(only[1])) if only else (material.run("qabisar"), material.town)
    questions = [question.text for question in read_corpus(corpus).questions]
    article_ids = [quote(article.article_id) for article in ArticleStore(run)]
    article_ids = random.Random(seed).sample(article_ids, min(_READ, len(article_ids)))
    sizes: list[Size] = []
    counts: Counter[str] = Counter()
    figures: dict[str, object] = {"minutes": []}
    workers = multiprocessing.get_context("spawn")
    with (
        Served(run, material.folder / "service") as service,
        ProcessPoolExecutor(PROCESSES, mp_context=workers) as readers,
    ):
        asked = {"port": service.port, "questions": questions, "article_ids": article_ids}
        figures["before"] = vars(service.size)

        def case(rng: random.Random, number: int) -> Iterator[str]:
            met = _together(readers, asked, seed=rng.randrange(2**32), seconds=MINUTE_S)
            sizes.append(service.size)
            counts.update(met)
            figures["minutes"].append({"outcomes": met, **vars(sizes[-1])})
            print(f"minute {number}: {met} {sizes[-1]}", file=sys.stderr, flush=True)
            # While it warms up, a service may be too slow, and says so.
            fine = ("200", "201", *(("503", "504") if number < _edge(len(cases)) else ()))
            yield from (f"{count} times {what}" for what, count in met.items() if what not in fine)
            if number == cases[-1]:
                yield from (*_grown(sizes), *service.faults())

        outcome = tried("load", case, cases=cases, seed=seed, figures=figures)
    figures["answers"] = counts.total()
    return outcome


def _edge(minutes: int) -> int:
    return max(1, minutes // 6)


def _grown(sizes: Sequence[Size]) -> list[str]:
    """Return what the last minutes show more of than the first: memory, handles."""
    edge = _edge(len(sizes))
    first, last = sizes[edge : 2 * edge], sizes[-edge:]  # in the first sixth texts and words are mapped, threads begun
    memory = [statistics.median(size.own_mib + size.mapped_mib for size in part) for part in (first, last)]
    # The least: connections that the readers have left may not be closed yet.
    handles = [min(size.handles for size in part) for part in (first, last)]
    problems = []
    if memory[1] > (1 + _FLAT) * memory[0]:
        problems.append(f"memory grew from {memory[0]:,.0f} to {memory[1]:,.0f} MiB")
    if handles[1] > handles[0]:
        problems.append(f"handles grew from {handles[0]} to {handles[1]}")
    return problems


def _together(readers: ProcessPoolExecutor, asked: dict, *, seed: int, seconds: float) -> dict[str, int]:
    """Return how often each outcome came to the readers of all processes."""
    parts = [readers.submit(_read, **asked, seed=seed + number, seconds=seconds) for number in range(PROCESSES)]
    return dict(sum((part.result() for part in parts), Counter()))


_first: dict[str, object] = {}  # what the service answered first to each request of this process


def _read(
    port: int,
    questions: Sequence[str],
    article_ids: Sequence[str],
    *,
    seed: int,
    seconds: float,
) -> Counter[str]:
    """Return the outcomes of a process's readers: statuses, and "another answer" than the first to the same request."""
    met: list[Counter[str]] = []
    end = time.monotonic() + seconds

    def read(reader: int) -> None:
        rng, counts = random.Random(seed * READERS + reader), Counter()
        met.append(counts)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        while time.monotonic() < end:
            counts[_outcome(connection, *_request(rng, questions, article_ids))] += 1
        connection.close()

    threads = [threading.Thread(target=read, args=[reader]) for reader in range(READERS // PROCESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(met, Counter())


def _request(rng: random.Random, questions: Sequence[str], article_ids: Sequence[str]) -> tuple[str, str, dict | None]:
    """Return a random request: method, address, body."""
    question, article_id = rng.choice(questions), rng.choice(article_ids)
    others = 100 - sum(_MIX.values())
    kind = rng.choices(["search", *_MIX], [others, *_MIX.values()])[0]
    return {
        "search": ("POST", "/api/search", {"question": question}),
        "explained": ("POST", "/api/search", {"question": question, "explain": True, "k": 5}),
        "limited": ("POST", "/api/search", {"question": question, "as_of": "2020-01-01"}),
        "article": ("GET", f"/api/articles/{article_id}", None),
        "graph": ("GET", f"/api/graph/{article_id}?hops={rng.randint(1, 3)}", None),
        "headings": ("GET", "/api/headings", None),
        "mark": ("POST", "/api/feedback", {"question": question, "article_id": unquote(article_id), "right": True}),
        "about": ("GET", "/api/about", None),
    }[kind]


def _outcome(connection: http.client.HTTPConnection, method: str, address: str, body: dict | None) -> str:
    """Return the status of an answer, or what is wrong with it."""
    try:
        connection.request(method, address, None if body is None else json.dumps(body), JSON)
        answer = connection.getresponse()
        found = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        connection.close()
        return type(error).__name__
    if answer.status == 200:
        found.pop("took_ms", None)
        first = _first.setdefault(f"{address} {json.dumps(body)}", found)
        if not is_same(found, first):
            return "another answer"
    return str(answer.status)


def is_same(answer: object, other: object) -> bool:
    """Return whether two answers are equal, numbers to within rounding: what is searched together differs. Hits whose
    scores are as near may have changed places."""
    if isinstance(answer, dict) and isinstance(other, dict):
        if "hits" in answer and "hits" in other:
            return _same_hits(answer["hits"], other["hits"])
        return answer.keys() == other.keys() and all(is_same(answer[key], other[key]) for key in answer)
    if isinstance(answer, list) and isinstance(other, list):
        return len(answer) == len(other) and all(map(is_same, answer, other))
    if isinstance(answer, float) and isinstance(other, float):
        return abs(answer - other) <= _NEAR * max(1.0, abs(other))
    return answer == other


def _same_hits(hits: Sequence[dict], others: Sequence[dict]) -> bool:
    if len(hits) != len(others):
        return False
    last = min((hit["score"] for hit in (*hits, *others)), default=0.0)
    known = {hit["article_id"]: hit for hit in others}
    for hit in hits:
        other = known.pop(hit["article_id"], None)
        if other is None:
            if not is_same(hit["score"], last):
                return False
        elif not is_same({**hit, "rank": 0}, {**other, "rank": 0}):
            return False
    return all(is_same(hit["score"], last) for hit in known.values())
