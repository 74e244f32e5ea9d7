"""`make trial`: statgraph under kills, damaged inputs, many callers at once, repetition and full disks.

    python -m tests.trials [CAMPAIGN ...] [--cases N] [--seed S] [--only NAME ...]

Prints one row for each campaign (campaign, cases, failures, seconds), then its failures, and writes both as JSON to
`.trials/CAMPAIGN.json`. A seed gives the same cases again. Exits with 1 if there was a failure.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything starts threads, which a fork would lose
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")

from statgraph.artifacts import write_json
from tests.trials.campaign import Outcome
from tests.trials.child import preload
from tests.trials.concurrency import concurrency
from tests.trials.determinism import determinism
from tests.trials.disks import disks
from tests.trials.inputs import inputs
from tests.trials.kills import kills
from tests.trials.material import Material

RESULTS = Path(__file__).parents[2] / ".trials"
# Campaign -> what it runs, and how many cases by default.
CAMPAIGNS: dict[str, tuple[Callable[..., Outcome], int]] = {
    "kills": (kills, 320),
    "inputs": (inputs, 2000),
    "disks": (disks, 160),
    "concurrency": (concurrency, 48),
    "determinism": (determinism, 6),
}
_NARROWED = ("kills", "inputs", "disks")


def main() -> int:
    """Run the campaigns that were asked for; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=f"one of {', '.join(CAMPAIGNS)}; default: all")
    parser.add_argument("--cases", metavar="N", type=int, help="cases of each campaign")
    parser.add_argument("--seed", metavar="S", type=int, default=0)
    parser.add_argument("--only", metavar="NAME", nargs="*", default=(), help="jobs or kinds of input")
    asked = parser.parse_args()
    unknown = [name for name in asked.campaigns if name not in CAMPAIGNS]
    if unknown:
        parser.error(f"unknown campaign '{unknown[0]}'; choose from {', '.join(CAMPAIGNS)}")
    preload()
    print("| campaign | cases | failures | seconds |\n| --- | ---: | ---: | ---: |", flush=True)
    failed = False
    for name in asked.campaigns or CAMPAIGNS:
        campaign, cases = CAMPAIGNS[name]
        options = {"only": tuple(asked.only)} if name in _NARROWED and asked.only else {}
        with tempfile.TemporaryDirectory(prefix="statgraph-trial-") as folder:
            outcome = campaign(Material(Path(folder)), cases=asked.cases or cases, seed=asked.seed, **options)
        print(outcome.row, flush=True)
        for failure in outcome.failures:
            print(f"  {failure}", flush=True)
        write_json(RESULTS / f"{name}.json", outcome.to_dict())
        failed = failed or bool(outcome.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
