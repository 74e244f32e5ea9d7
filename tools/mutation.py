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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).parents[1]
WORK = REPO / ".mutants"
SLOWEST, LEAST_TIMEOUT_S = 5.0, 30.0  # a mutant that takes this many times the tests' own time has been noticed


@dataclass(frozen=True)
class Target:
    """Modules to mutate (files or folders under statgraph/) and the tests that must notice it (under tests/)."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "negatives": Target(("negatives",), ("negatives",)),
    "losses": Target(("training/losses.py",), ("training/test_losses.py", "training/test_stage1.py")),
    "blocks": Target(("graph/blocks.py",), ("graph",)),
    "updating": Target(("systems/updating",), ("systems/updating",)),
    "metrics": Target(("evaluation/metrics.py",), ("evaluation/test_metrics.py",)),
    "signals": Target(("signals", "ranking/long_questions.py"), ("signals", "ranking")),
    "parts": Target(
        ("runs/parts.py", "corpus/query.py", "settings.py"), ("runs", "corpus/test_query.py", "test_settings.py")
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant: its place, its operator, whether a test failed, and the difference it made."""

    place: str
    operator: str
    killed: bool
    diff: str


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
        own_s = _tests_alone(copy, TARGETS[name].tests)
        if own_s is None:
            print(f"{name}: its tests fail without a mutant; fix them first", file=sys.stderr)
            return 1
        start = time.perf_counter()
        n_mutants, outcomes = _tried(name, copy, own_s, most=arguments.most, seed=arguments.seed)
        each_s = (time.perf_counter() - start) / max(1, len(outcomes))
        killed = sum(outcome.killed for outcome in outcomes)
        lines.append(f"| {name} | {n_mutants} | {len(outcomes)} | {killed} | {each_s:.1f} |")
        survivors += [outcome for outcome in outcomes if not outcome.killed]
        print(lines[-1], file=sys.stderr, flush=True)
    print("\n".join(lines))
    for survivor in survivors:
        print(f"\n`{survivor.place}` ({survivor.operator})\n\n```diff\n{survivor.diff}\n```")
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


def _tests_alone(copy: Path, tests: Sequence[str]) -> float | None:
    """Return the seconds that the tests take without a mutant, or None if they fail."""
    start = time.perf_counter()
    passed = subprocess.run(_test_command(tests), cwd=copy, env=_environment(copy), capture_output=True).returncode == 0
    return time.perf_counter() - start if passed else None


def _test_command(tests: Iterable[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", "-x", "-q", *(f"tests/{path}" for path in tests)]


def _environment(copy: Path) -> dict[str, str]:
    # No bytecode: a mutant of the same size, written in the same second, would not be noticed.
    return {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}


def _tried(name: str, copy: Path, own_s: float, *, most: int, seed: int) -> tuple[int, list[Outcome]]:
    """Return the number of mutants of a target, and what became of those that were drawn."""
    from cosmic_ray.work_db import WorkDB, use_db
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

    target, session = TARGETS[name], copy / "session.sqlite"
    (copy / "cosmic-ray.toml").write_text(
        "[cosmic-ray]\n"
        f"module-path = {json.dumps([f'statgraph/{path}' for path in target.modules])}\n"
        f"timeout = {max(LEAST_TIMEOUT_S, SLOWEST * own_s):.0f}\n"
        "excluded-modules = []\n"
        f"test-command = {json.dumps(' '.join(_test_command(target.tests)))}\n"
        '[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )
    _cosmic_ray(copy, "init", "cosmic-ray.toml", session.name)
    with use_db(session, WorkDB.Mode.open) as database:
        items = sorted(
            (item for item in database.work_items if not _in_annotation(copy, item.mutations[0])),
            key=lambda item: (
                str(item.mutations[0].module_path),
                item.mutations[0].start_pos,
                item.mutations[0].occurrence,
            ),
        )
        drawn = {item.job_id for item in random.Random(seed).sample(items, min(most, len(items)))}
        left_out = [item.job_id for item in database.work_items if item.job_id not in drawn]
        database.set_multiple_results(left_out, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    _cosmic_ray(copy, "exec", "cosmic-ray.toml", session.name)
    with use_db(session, WorkDB.Mode.open) as database:
        results = dict(database.results)
    outcomes = []
    for item in items:
        if item.job_id in drawn:
            mutation, result = item.mutations[0], results[item.job_id]
            place = f"{mutation.module_path}:{mutation.start_pos[0]}"
            killed = result.test_outcome != TestOutcome.SURVIVED
            outcomes.append(Outcome(place, mutation.operator_name, killed, (result.diff or "").strip()))
    return len(items), outcomes


def _cosmic_ray(copy: Path, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("cosmic-ray")), *arguments]
    subprocess.run(command, cwd=copy, env=_environment(copy), check=True, stdout=subprocess.DEVNULL)


def _in_annotation(copy: Path, mutation) -> bool:
    """Return whether a mutation changes a type annotation, which nothing evaluates."""
    tree = ast.parse((copy / mutation.module_path).read_text(encoding="utf-8"))
    annotations = []
    for node in ast.walk(tree):
        annotations += [getattr(node, name, None) for name in ("annotation", "returns")]
    return any(
        (found.lineno, found.col_offset) <= mutation.start_pos < (found.end_lineno, found.end_col_offset)
        for found in annotations
        if found is not None
    )


if __name__ == "__main__":
    sys.exit(main())
