"""`make trial`: statgraph under kills, damaged inputs, full disks and odd clients, and what else takes long.

    python -m tests.trials [CAMPAIGN ...] [--cases N] [--seed S] [--first N] [--only NAME ...] [--short]

Prints one row for each campaign (campaign, cases, failures, seconds), failures on stderr, and writes both as JSON to
`.trials/CAMPAIGN.json`. A seed gives the same cases again, `--first N --cases 1` the one that failed. Ctrl-C ends a
campaign, and its row counts what was tried. Exits with 1 if there was a failure.
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
from tests.trials.disks import disks
from tests.trials.inputs import inputs
from tests.trials.kills import kills
from tests.trials.material import Material
from tests.trials.service import service

RESULTS = Path(__file__).parents[2] / ".trials"
# Campaign -> what it runs, and how many cases by default.
CAMPAIGNS: dict[str, tuple[Callable[..., Outcome], int]] = {
    "kills": (kills, 320),
    "inputs": (inputs, 2000),
    "disks": (disks, 160),
    "service": (service, 160),
}
# What takes seconds: the cases of each, and of which jobs or kinds.
SHORT = {
    "kills": (4, ("import",)),
    "inputs": (9, ("jsonl", "csv", "questions")),
    "disks": (4, ("import",)),
    "service": (1, ("odd",)),
}


def main() -> int:
    """Run the campaigns that were named; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=f"one of {', '.join(CAMPAIGNS)}; default: all")
    parser.add_argument("--cases", metavar="N", type=int, help="cases of each campaign")
    parser.add_argument("--seed", metavar="S", type=int, default=0)
    parser.add_argument("--first", metavar="N", type=int, default=0, help="number of the first case")
    parser.add_argument(
        "--only", metavar="NAME", nargs="*", default=(), help="jobs, kinds of input, or kinds of client"
    )
    parser.add_argument("--short", action="store_true", help="a few cases of what takes seconds")
    options = parser.parse_args()
    unknown = [name for name in options.campaigns if name not in CAMPAIGNS]
    if unknown:
        parser.error(f"unknown campaign '{unknown[0]}'; choose from {', '.join(CAMPAIGNS)}")
    preload()
    print("| campaign | cases | failures | seconds |\n| --- | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="statgraph-trial-") as folder:
        material = Material(Path(folder))
        outcomes = [_outcome(name, material, options) for name in options.campaigns or CAMPAIGNS]
    return int(any(outcome.failures for outcome in outcomes))


def _outcome(name: str, material: Material, options: argparse.Namespace) -> Outcome:
    """Return the outcome of a campaign after printing its row and, unless it was short, writing it."""
    campaign, cases = CAMPAIGNS[name]
    cases, only = SHORT[name] if options.short else (options.cases or cases, tuple(options.only))
    outcome = campaign(material, cases=range(options.first, options.first + cases), seed=options.seed, only=only)
    print(outcome.row, flush=True)
    if not options.short:
        write_json(RESULTS / f"{name}.json", vars(outcome))
    return outcome


if __name__ == "__main__":
    sys.exit(main())
