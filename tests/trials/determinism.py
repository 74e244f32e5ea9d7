"""Determinism: one seed gives one run, to the bit; more threads give the same measures to a tolerance."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from statgraph import artifacts
from tests.trials.campaign import Outcome, tried
from tests.trials.child import command
from tests.trials.jobs import contents
from tests.trials.kills import differing
from tests.trials.material import Material

TOLERANCE = 0.02  # of a measure on dev, which is at most 1
_OF_SAMPLE = ("stage1.batch_size=64", "stage2.batch_size=64")
_SYSTEMS = ("dsr", "qabisar", "ensemble")


def determinism(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many cases: a system and a seed, on the town or the sample, trained twice with one
    thread, then with two."""
    figures = {"largest difference of a measure between one and two threads": 0.0}

    def case(rng: random.Random, number: int) -> Iterator[str]:
        systems = only or _SYSTEMS
        system, drawn = systems[number % len(systems)], rng.randrange(2**31)
        corpus, settings = (material.sample, _OF_SAMPLE) if number % 2 else (material.town, ())
        arguments = [*material.training(system, corpus, *settings), "--seed", str(drawn), "--out", "run"]
        runs = []
        for name, threads in (("first", 1), ("second", 1), ("threads", 2)):
            folder = material.folder / name
            folder.mkdir()
            done = command(arguments, folder, before=lambda threads=threads: _set_threads(threads))
            if done.code:
                yield f"{system}, seed {drawn}: {done.end}"
            runs.append(folder / "run")
        first, second, threaded = runs
        if contents(first) != contents(second):
            yield f"{system}, seed {drawn}: two runs differ in {differing(contents(first), contents(second))}"
        apart = _apart(first, threaded)
        key = next(iter(figures))
        figures[key] = max(figures[key], round(apart, 6))
        if apart > TOLERANCE:
            yield f"{system}, seed {drawn}: one and two threads differ by {apart:.3f} in a measure"
        for folder in runs:
            shutil.rmtree(folder.parent)

    return tried("determinism", case, cases=cases, seed=seed, figures=figures)


def _set_threads(n_threads: int) -> None:
    import faiss
    import torch

    torch.set_num_threads(n_threads)
    faiss.omp_set_num_threads(n_threads)


def _apart(first: Path, second: Path) -> float:
    """Return the largest difference of a measure over all dev questions."""
    reports = [
        json.loads((run / artifacts.RUN_REPORT).read_text())["strata"]["all"]["metrics"] for run in (first, second)
    ]
    return max(abs(reports[0][name]["mean"] - reports[1][name]["mean"]) for name in reports[0])
