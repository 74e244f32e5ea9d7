"""Inputs: damaged sources of every format, question files, marks, run folders, indexes and models."""

from __future__ import annotations

import random
import resource
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from statgraph.law.store import read_corpus
from tests.trials.campaign import Outcome, left_over, tried
from tests.trials.child import Done, command, limit_memory
from tests.trials.damage import damaged
from tests.trials.material import Material

SOURCES = ("jsonl", "csv", "beir", "bsard", "legi", "feedback", "questions", "corpus")
if find_spec("pyarrow"):
    SOURCES = (*SOURCES, "parquet")
RUNS = ("bm25", "dsr", "qabisar", "ensemble")
TIMEOUT_S = 20
_QUESTION = "May I keep my lamps?"
_MOST_MIB = 1024  # beyond what the parent has at the start


def inputs(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many damaged inputs: six in ten are sources, the others files of runs."""
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 + _MOST_MIB

    def case(rng: random.Random, number: int) -> Iterator[str]:
        nonlocal most_mib
        drawn = only or (SOURCES if rng.random() < 0.6 else [f"run {name}" for name in RUNS])
        kind = drawn[number % len(drawn)]
        folder = material.folder / "case"
        folder.mkdir()
        try:
            tried_one = _run if kind.startswith("run ") else _source
            done, problems = tried_one(kind.removeprefix("run "), material, folder, rng)
            if not done.is_reported:
                problems = [done.end, *problems]
            yield from (f"{kind}: {problem}" for problem in problems)
            used_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
            if used_mib > most_mib:
                yield f"{kind}: takes {used_mib:,} MiB"
                most_mib = used_mib
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return tried("inputs", case, cases=cases, seed=seed)


def _source(kind: str, material: Material, folder: Path, rng: random.Random) -> tuple[Done, list[str]]:
    """Damage one file of a source, and import, read or ask it."""
    original = material.town if kind == "corpus" else material.source(kind)
    shutil.copytree(original, folder / "source")
    broken = _damage_one(folder / "source", rng)
    out = folder / "law"
    if kind == "corpus":
        return command(["build-graph", "source", "--out", "law"], folder, **_BOUNDS), _leavings(folder, out, None)
    if kind == "questions":
        asked = ["search", "--run", material.run("bm25"), "--questions", broken, *rng.choice(((), ("--trec",)))]
        return command(asked, folder, **_BOUNDS), _leavings(folder, out, None)
    about = ["--corpus", material.town] if kind == "feedback" else ["--language", "fr" if kind == "bsard" else "en"]
    source = broken if kind == "feedback" else "source"
    options = rng.choice(((), ("--strip-html",), ("--splits", "by-labels"))) if kind != "feedback" else ()
    if kind in ("csv", "jsonl") and rng.random() < 0.3:
        options = (*options, "--encoding", rng.choice(("cp1252", "utf-16", "latin-1", "idna", "utf-7", "hex")))
    done = command(["import", kind, source, *about, *options, "--out", "law"], folder, **_BOUNDS)
    return done, _leavings(folder, out, done.code)


def _run(system: str, material: Material, folder: Path, rng: random.Random) -> tuple[Done, list[str]]:
    """Damage one file of a run, and search, explain, measure, export or update it."""
    shutil.copytree(material.run(system), folder / "run", symlinks=True)
    _damage_one(folder / "run", rng)
    asked = rng.choice(
        (
            ("search", _QUESTION, "--run", "run"),
            ("search", _QUESTION, "--run", "run", "--explain", "--json"),
            ("evaluate", "--run", "run", "--corpus", str(material.town)),
            ("export", "--run", "run", "--to", "graphml", "--out", "out"),
            ("export", "--run", "run", "--to", "faiss", "--out", "out"),
            ("export", "--run", "run", "--to", "sentence-transformers", "--out", "out"),
            ("update", "--run", "run", "--corpus", str(material.amended_town)),
            ("train", "--corpus", str(material.town), "--final", "run", "--out", "out"),
        )
    )
    done = command(asked, folder, **_BOUNDS)
    problems = [name for name in left_over(folder) if done.code == 0 or not name.startswith("cache/")]
    if done.code != 0 and asked[0] == "export" and (folder / "out").exists():
        problems.append("written though refused")
    return done, [f"{asked[0]}: {problem}" for problem in problems]


def _leavings(folder: Path, out: Path, code: int | None) -> list[str]:
    """Return what is wrong with what a command left: something on refusal, or a corpus that cannot be read."""
    problems = [f"left over: {name}" for name in left_over(folder) if not name.startswith("source/")]
    if code and out.exists():
        problems.append("written though refused")
    if code == 0:
        try:
            read_corpus(out)
        except Exception as error:
            problems.append(f"imported, but cannot be read: {error}")
    return problems


def _damage_one(folder: Path, rng: random.Random) -> Path:
    """Damage a file, and return it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    path = rng.choice(files)
    odd = rng.random()
    data = path.read_bytes()
    if odd < 0.03:
        path.unlink()
    elif odd < 0.05:
        path.unlink()
        path.mkdir()
    elif odd < 0.06:
        path.unlink()
        path.symlink_to(path)
    else:
        path.write_bytes(damaged(data, rng))
    return path


_BOUNDS = {"before": limit_memory, "kill_after": TIMEOUT_S}
