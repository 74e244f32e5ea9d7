"""`make bench`: every measure in its own process, one table.

    python -m benchmarks [NAME ...] [--corpus DIR] [--run DIR] [--any-commit] [--quick]

Without names it runs all but those that need more (index_largest: ten minutes, 20 GB of disk); without a corpus, on the
embedded sample and the newest run, which the present commit must have trained. Each measure writes
`benchmarks/results/NAME.json`; docs/performance.md gets the table of all results on disk (not with --quick).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.registry import MEASURES, OF_A_RUN, WHEN_NAMED, measure_named
from benchmarks.results import save_results, write_pages
from benchmarks.settings import Settings
from statgraph.errors import StatgraphError
from statgraph.law.catalogue import sample_folder
from statgraph.runs.provenance import published_path

WITHIN = "STATGRAPH_BENCH_PROCESS"  # set in the process of a single measure


def main() -> int:
    """Run the measures that were asked for; return the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MEASURES)}; default: all")
    parser.add_argument("--corpus", type=Path, default=None)
    parser.add_argument("--run", type=Path, default=None)
    parser.add_argument(
        "--any-commit", action="store_true", help="accept a run that another commit trained; its rows are marked"
    )
    parser.add_argument("--quick", action="store_true", help="just enough to show that it works; saves nothing")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in MEASURES]
    if unknown:
        parser.error(f"no measure '{unknown[0]}'; choose from {', '.join(MEASURES)}")
    if os.environ.get(WITHIN):
        try:
            _measure(arguments.names[0], arguments)
        except StatgraphError as error:
            print(f"Error: {error}", file=sys.stderr)
            return 1
        return 0
    names = arguments.names or [name for name in MEASURES if name not in WHEN_NAMED]
    failed = [name for name in names if not _in_own_process(name, _options(arguments, str))]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    if not arguments.quick:
        write_pages()
    return len(failed)


def _options(arguments: argparse.Namespace, path_text: Callable[[Path], str]) -> list[str]:
    """Return the options as they were given, with each path as `path_text` writes it."""
    options = []
    for option, path in (("--corpus", arguments.corpus), ("--run", arguments.run)):
        options += [] if path is None else [option, path_text(path)]
    return [*options, *["--any-commit"] * arguments.any_commit, *["--quick"] * arguments.quick]


def _in_own_process(name: str, options: list[str]) -> bool:
    """Run one measure in its own process, so that its peak memory is its own; return whether it succeeded."""
    command = [sys.executable, "-m", "benchmarks", name, *options]
    return subprocess.run(command, env={**os.environ, WITHIN: "1"}).returncode == 0


def _measure(name: str, arguments: argparse.Namespace) -> None:
    print(f"== {name}", flush=True)
    corpus = arguments.corpus or sample_folder()
    settings = Settings(corpus, arguments.run, arguments.quick, arguments.any_commit)
    rows = measure_named(name)(settings)
    if name in OF_A_RUN:
        rows = settings.marked(rows)
    for row in rows:
        rival = f" against {row.against}" if row.against else ""
        asked = f" (asked: {row.asked})" if row.asked else ""
        print(f"  {row.what}{rival}: {row.reached}{asked}", flush=True)
    if not settings.quick:
        command = ["python -m benchmarks", name, *_options(arguments, published_path)]
        save_results(name, rows, command=" ".join(command))


if __name__ == "__main__":
    sys.exit(main())
