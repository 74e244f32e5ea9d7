"""`make trial TRIAL=mutants`: which small faults in a module no test notices, by cosmic-ray on a copy of the checkout.

    python -m tools.mutation [TARGET ...] [--most N] [--seed N]

Of each target N mutants are tried, drawn with a seed. Prints the survivors; the copies stay under `.mutants/`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click

REPO = Path(__file__).parents[1]
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


def survivors(name: str, *, most: int, seed: int) -> list[str]:
    """Return how many mutants of a target survived, and the difference that each of these makes."""
    from cosmic_ray.work_db import WorkDB, use_db
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

    copy, modules = REPO / ".mutants" / name, [f"statgraph/{path}" for path in TARGETS[name][0]]
    shutil.rmtree(copy, ignore_errors=True)
    # cosmic-ray writes its mutants in place.
    subprocess.run(["git", "checkout-index", "--all", f"--prefix={copy}/"], cwd=REPO, check=True)
    # No bytecode: a mutant of the same size, written in the same second, would not be noticed.
    own = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    test = [sys.executable, "-m", "pytest", "-x", "-q", *(f"tests/{path}" for path in TARGETS[name][1])]

    def run(*command: str) -> None:
        subprocess.run(command, cwd=copy, env={**os.environ, **own}, check=True, stdout=subprocess.DEVNULL)

    start = time.perf_counter()
    run(*test)
    timeout_s = max(LEAST_TIMEOUT_S, SLOWEST * (time.perf_counter() - start))
    (copy / "cosmic-ray.toml").write_text(
        f"[cosmic-ray]\nmodule-path = {json.dumps(modules)}\ntimeout = {timeout_s:.0f}\nexcluded-modules = []\n"
        f'test-command = {json.dumps(" ".join(test))}\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    cosmic_ray = str(Path(sys.executable).with_name("cosmic-ray"))
    run(cosmic_ray, "init", "cosmic-ray.toml", "session.sqlite")
    with use_db(copy / "session.sqlite", WorkDB.Mode.open) as database:
        # A | is mostly one of an annotation, which nothing evaluates.
        items = [item for item in database.work_items if "BitOr" not in item.mutations[0].operator_name]
        items.sort(key=lambda item: str(item.mutations))
        drawn = {item.job_id for item in random.Random(seed).sample(items, min(most, len(items)))}
        left_out = [item.job_id for item in database.work_items if item.job_id not in drawn]
        database.set_multiple_results(left_out, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    run(cosmic_ray, "exec", "cosmic-ray.toml", "session.sqlite")
    with use_db(copy / "session.sqlite", WorkDB.Mode.open) as database:
        survived = [result for _, result in database.results if result.test_outcome == TestOutcome.SURVIVED]
    return [f"{name}: {len(survived)} of {len(drawn)} survived", *((result.diff or "").strip() for result in survived)]


@click.command(help=__doc__)
@click.argument("targets", nargs=-1, type=click.Choice(list(TARGETS)))
@click.option("--most", metavar="N", default=60, show_default=True, help="Most mutants of a target.")
@click.option("--seed", metavar="N", default=0, show_default=True, help="Seed of the draw.")
def main(targets: tuple[str, ...], most: int, seed: int) -> None:
    """Print the survivors of some targets, or of all."""
    for target in targets or TARGETS:
        print("\n\n".join(survivors(target, most=most, seed=seed)), flush=True)


if __name__ == "__main__":
    main()
