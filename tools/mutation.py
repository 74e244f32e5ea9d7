"""`make trial TRIAL=mutants`: which small faults in a module no test notices, by cosmic-ray on a copy of the checkout.

    python -m tools.mutation [TARGET ...] [--most N] [--seed N]

Of each target at most N mutants are tried, drawn with a seed, and its tests run once for each. Prints a Markdown table
and the survivors; copies and sessions stay under `.mutants/` until the next run.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

REPO = Path(__file__).parents[1]
WORK = REPO / ".mutants"
SLOWEST, LEAST_TIMEOUT_S = 5.0, 30.0  # a mutant that takes this many times the tests' own time has been noticed
# What is mutated (files or folders under statgraph/) and the tests that must notice it (under tests/).
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "negatives": (("training/negatives",), ("training/negatives",)),
    "losses": (("training/losses.py",), ("training/test_losses.py", "training/test_stage1.py")),
    "blocks": (("graph/blocks.py",), ("graph",)),
    "updating": (("systems/updating",), ("systems/updating",)),
    "metrics": (("evaluation/metrics.py",), ("evaluation/test_metrics.py",)),
    "signals": (("retrieval/signals", "retrieval/ranking"), ("retrieval/signals", "retrieval/ranking")),
    "parts": (("runs/parts.py", "law/query.py", "settings.py"), ("runs", "law/test_query.py", "test_settings.py")),
}


def main() -> int:
    """Try the mutants of the chosen targets; return 1 if the tests fail without any mutant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--most", metavar="N", type=int, default=60, help="most mutants of a target (default: 60)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the draw (default: 0)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no target '{unknown[0]}'; choose from {', '.join(TARGETS)}")
    lines, survivors = ["| target | mutants | tried | killed | s per mutant |", "| --- | --- | --- | --- | --- |"], []
    for name in arguments.targets or TARGETS:
        copy = _copied(name)
        start = time.perf_counter()
        if subprocess.run(_test_command(name), cwd=copy, env=_environment(copy), capture_output=True).returncode:
            print(f"{name}: its tests fail without a mutant; fix them first", file=sys.stderr)
            return 1
        own_s, start = time.perf_counter() - start, time.perf_counter()
        n_mutants, n_tried, survived = _tried(name, copy, own_s, most=arguments.most, seed=arguments.seed)
        each_s = (time.perf_counter() - start) / max(1, n_tried)
        lines.append(f"| {name} | {n_mutants} | {n_tried} | {n_tried - len(survived)} | {each_s:.1f} |")
        survivors += survived
        print(lines[-1], file=sys.stderr, flush=True)
    print("\n".join([*lines, *survivors]))
    return 0


def _copied(name: str) -> Path:
    """Return a fresh copy of the tracked files: cosmic-ray writes its mutants in place."""
    copy = WORK / name
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, capture_output=True, text=True, check=True).stdout
    for file in filter(None, listed.split("\0")):
        if (REPO / file).is_file():
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPO / file, copy / file)
    return copy


def _test_command(name: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-x", "-q", *(f"tests/{path}" for path in TARGETS[name][1])]


def _environment(copy: Path) -> dict[str, str]:
    # No bytecode: a mutant of the same size, written in the same second, would not be noticed.
    return {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}


def _tried(name: str, copy: Path, own_s: float, *, most: int, seed: int) -> tuple[int, int, list[str]]:
    """Return the number of mutants of a target, how many were drawn and tried, and what each survivor changed."""
    from cosmic_ray.work_db import WorkDB, use_db
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

    session = copy / "session.sqlite"
    (copy / "cosmic-ray.toml").write_text(
        "[cosmic-ray]\n"
        f"module-path = {json.dumps([f'statgraph/{path}' for path in TARGETS[name][0]])}\n"
        f"timeout = {max(LEAST_TIMEOUT_S, SLOWEST * own_s):.0f}\n"
        "excluded-modules = []\n"
        f"test-command = {json.dumps(' '.join(_test_command(name)))}\n"
        '[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )
    _cosmic_ray(copy, "init", "cosmic-ray.toml", session.name)
    with use_db(session, WorkDB.Mode.open) as database:
        mutations = {item.job_id: item.mutations[0] for item in database.work_items}
        evaluated = sorted(
            (job for job, mutation in mutations.items() if not _in_annotation(copy, mutation)),
            key=lambda job: (str(mutations[job].module_path), mutations[job].start_pos, mutations[job].occurrence),
        )
        drawn = random.Random(seed).sample(evaluated, min(most, len(evaluated)))
        left_out = [job for job in mutations if job not in drawn]
        database.set_multiple_results(left_out, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    _cosmic_ray(copy, "exec", "cosmic-ray.toml", session.name)
    with use_db(session, WorkDB.Mode.open) as database:
        results = dict(database.results)
    survivors = [
        f"\n`{mutations[job].module_path}:{mutations[job].start_pos[0]}` ({mutations[job].operator_name})\n\n"
        f"```diff\n{(results[job].diff or '').strip()}\n```"
        for job in evaluated
        if job in drawn and results[job].test_outcome == TestOutcome.SURVIVED
    ]
    return len(evaluated), len(drawn), survivors


def _cosmic_ray(copy: Path, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("cosmic-ray")), *arguments]
    subprocess.run(command, cwd=copy, env=_environment(copy), check=True, stdout=subprocess.DEVNULL)


def _in_annotation(copy: Path, mutation) -> bool:
    """Return whether a mutation changes a type annotation, which nothing evaluates."""
    tree = ast.parse((copy / mutation.module_path).read_text(encoding="utf-8"))
    annotations: Sequence[ast.expr] = [
        annotation
        for node in ast.walk(tree)
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if annotation is not None
    ]
    return any(
        (found.lineno, found.col_offset) <= mutation.start_pos < (found.end_lineno, found.end_col_offset)
        for found in annotations
    )


if __name__ == "__main__":
    sys.exit(main())
