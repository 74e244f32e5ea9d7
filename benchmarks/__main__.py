"""`make bench`: every measure in a process of its own, one table.

    python -m benchmarks [NAME ...] [--corpus DIR] [--run DIR] [--quick]

Without names it runs all but those that want more (index_largest: ten minutes, 20 GB of disk); without a corpus on the
embedded sample and the newest run. Each measure leaves `benchmarks/results/NAME.json`; docs/performance.md gets the
table of all that is there (not with --quick).
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import page
from benchmarks.registry import MEASURES, WHEN_NAMED
from benchmarks.results import save_results
from benchmarks.settings import Settings
from statgraph.corpus.sample import sample_folder
from statgraph.errors import StatgraphError

WITHIN = "STATGRAPH_BENCH_PROCESS"  # set in the process of a single measure


def main() -> int:
    """Run the measures that were asked for; return the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MEASURES)}; default: all")
    parser.add_argument("--corpus", type=Path, default=None)
    parser.add_argument("--run", type=Path, default=None)
    parser.add_argument("--quick", action="store_true", help="as little as shows that it works; saves nothing")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in MEASURES]
    if unknown:
        parser.error(f"no measure '{unknown[0]}'; choose from {', '.join(MEASURES)}")
    if os.environ.get(WITHIN):
        try:
            _measure(arguments.names[0], Settings(arguments.corpus or sample_folder(), arguments.run, arguments.quick))
        except StatgraphError as error:
            print(f"Error: {error}", file=sys.stderr)
            return 1
        return 0
    options = [
        part
        for option, value in (("--corpus", arguments.corpus), ("--run", arguments.run))
        if value is not None
        for part in (option, str(value))
    ]
    options += ["--quick"] * arguments.quick
    names = arguments.names or [name for name in MEASURES if name not in WHEN_NAMED]
    failed = [name for name in names if not _in_own_process(name, options)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    if not arguments.quick:
        page.write()
    return len(failed)


def _in_own_process(name: str, options: list[str]) -> bool:
    """Run one measure apart, so that its peak memory is its own; return whether it ended well."""
    command = [sys.executable, "-m", "benchmarks", name, *options]
    return subprocess.run(command, env={**os.environ, WITHIN: "1"}).returncode == 0


def _measure(name: str, settings: Settings) -> None:
    print(f"== {name}", flush=True)
    rows = importlib.import_module(MEASURES[name]).measure(settings)
    for row in rows:
        rival = f" against {row.against}" if row.against else ""
        asked = f" (asked: {row.asked})" if row.asked else ""
        print(f"  {row.what}{rival}: {row.reached}{asked}", flush=True)
    if not settings.quick:
        save_results(name, rows, command=" ".join(["python -m benchmarks", *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
