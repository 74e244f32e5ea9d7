"""`make bench`: every measure in its own process, one table.

    python -m benchmarks [NAME ...] [--corpus DIR] [--run DIR] [--any-commit] [--quick]

Without names it runs all but those that need more (index_largest: ten minutes, 20 GB of disk); without a corpus, on the
embedded sample and the newest run, which the present commit must have trained. Each measure writes
`benchmarks/results/NAME.json`; the pages of docs/ get the tables and plots of all results on disk (not with --quick).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.measuring import Row, Settings
from benchmarks.results import pages, save_results
from statgraph.artifacts import write_text
from statgraph.errors import StatgraphError
from statgraph.law.catalogue import sample_folder
from statgraph.registry import load
from statgraph.runs.folders import newest_run
from statgraph.runs.provenance import commit, published_path
from statgraph.runs.run import RunFolder

# In the order of the table: name -> module of `benchmarks.measures`, and its function of `Settings` that returns rows.
MEASURES = {
    "importing": "importing:measure",
    "attention": "attention:measure",
    "embedding": "embedding:measure",
    "on_gpu": "embedding:measure_on_gpu",
    "query": "query:measure",
    "query_static": "query:measure",
    "ensemble_query": "query:measure",
    "index_kinds": "indexes:measure_kinds",
    "index_largest": "indexes:measure_largest",
    "serving": "serving:measure",
    "updating": "updating:measure",
    "updating_static": "updating:measure",
    "ensemble_training": "ensemble_training:measure",
    "ensemble_training_long": "ensemble_training:measure",
    "known_tools": "known_tools:measure",
    "known_tools_law": "known_tools:measure",
}
# These measure a trained run, which the present commit must have trained.
OF_A_RUN = ("query", "query_static", "ensemble_query", "serving", "updating", "updating_static")
# Run only when named: the first takes ten minutes and 20 GB of disk, the last two an hour and other tools. The others
# want a run on the static encoder or of an ensemble, or train one, of short questions and of long ones.
WHEN_NAMED = (
    "index_largest", "query_static", "ensemble_query", "updating_static", "ensemble_training", "ensemble_training_long",
    "known_tools", "known_tools_law"
)  # fmt: skip


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
    options = [word for word in sys.argv[1:] if word not in MEASURES]
    names = arguments.names or [name for name in MEASURES if name not in WHEN_NAMED]
    if len(names) > 1:  # each in its own process, so that its peak memory is its own
        commands = {name: [sys.executable, "-m", "benchmarks", name, *options] for name in names}
        failed = [name for name, command in commands.items() if subprocess.run(command).returncode]
        if failed:
            print(f"failed: {', '.join(failed)}", file=sys.stderr)
        return len(failed)
    try:
        _measure(*names, arguments, options)
    except StatgraphError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


def _measure(name: str, arguments: argparse.Namespace, options: Sequence[str]) -> None:
    print(f"== {name}", flush=True)
    corpus = arguments.corpus or sample_folder()
    settings = Settings(corpus, arguments.run, arguments.quick, arguments.any_commit)
    rows = measure_named(name)(settings)
    if name in OF_A_RUN and (trained_by := RunFolder.read(settings.run or newest_run()).commit) != commit():
        by = f"The run was trained by {trained_by or 'an unknown commit'}."
        rows = [replace(row, note=f"{by} {row.note}".strip()) for row in rows]
    for row in rows:
        rival = f" against {row.against}" if row.against else ""
        asked = f" (asked: {row.asked})" if row.asked else ""
        print(f"  {row.what}{rival}: {row.reached}{asked}", flush=True)
    if not settings.quick:
        words = [published_path(Path(word)) if Path(word).exists() else word for word in options]
        save_results(name, rows, command=" ".join(["python -m benchmarks", name, *words]))
        for page, text in pages().items():
            write_text(page, text)


def measure_named(name: str) -> Callable[[Settings], list[Row]]:
    """Return the function of a measure."""
    return load(f"benchmarks.measures.{MEASURES[name]}")


if __name__ == "__main__":
    sys.exit(main())
