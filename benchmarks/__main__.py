"""`make bench`: every measure in its own process, one table.

    python -m benchmarks [NAME ...] [--corpus DIR] [--run DIR] [--quick]

Without names it runs all but those that need more (index_largest: ten minutes, 20 GB of disk); without a corpus, on the
embedded sample and the newest run. Each measure writes `benchmarks/results/NAME.json`; the pages of docs/ get the
tables and plots of all results on disk (not with --quick).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks.measuring import Row, Settings
from benchmarks.results import MEASURES, pages, save_results
from statgraph.artifacts import write_text
from statgraph.errors import StatgraphError
from statgraph.law.catalogue import sample_folder
from statgraph.registry import load
from statgraph.runs.provenance import published_path

# These take ten minutes and 20 GB of disk, an hour, or other tools; or they want a run on the static encoder or of an
# ensemble, or train one.
WHEN_NAMED = (
    "index_largest", "query_static", "ensemble_query", "ensemble_query_fast", "updating_static", "ensemble_training",
    "ensemble_training_long", "on_gpu", "known_tools", "known_tools_law"
)  # fmt: skip


@click.command(help=__doc__)
@click.argument("names", nargs=-1, type=click.Choice(list(MEASURES)))
@click.option("--corpus", metavar="DIR", type=click.Path(path_type=Path), default=sample_folder)
@click.option("--run", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--quick", is_flag=True, help="Just enough to show that it works; saves nothing.")
def main(names: tuple[str, ...], corpus: Path, run: Path | None, quick: bool) -> None:
    """Run measures; several each in a process of its own, so that none has the memory and threads of another."""
    names = names or tuple(name for name in MEASURES if name not in WHEN_NAMED)
    settings = Settings(corpus, run, quick)
    if len(names) == 1:
        try:
            _measure(names[0], settings)
        except StatgraphError as error:
            raise click.ClickException(str(error)) from None
        return
    options = ["--corpus", str(corpus), *(["--run", str(run)] if run else []), *["--quick"] * quick]
    commands = {name: [sys.executable, "-m", "benchmarks", name, *options] for name in names}
    if failed := [name for name, command in commands.items() if subprocess.run(command).returncode]:
        raise click.ClickException(f"failed: {', '.join(failed)}")


def _measure(name: str, settings: Settings) -> None:
    print(f"== {name}", flush=True)
    rows = measure_named(name)(settings)
    for row in rows:
        print(f"  {row.what}{f' against {row.against}' if row.against else ''}: {row.reached}", flush=True)
    if not settings.quick:
        given = {"--corpus": settings.corpus, "--run": settings.run}
        words = [word for option, path in given.items() if path for word in (option, published_path(path))]
        save_results(name, rows, command=" ".join(["python -m benchmarks", name, *words]))
        for page, text in pages().items():
            write_text(page, text)


def measure_named(name: str) -> Callable[[Settings], list[Row]]:
    """Return the function of a measure."""
    return load(f"benchmarks.measures.{MEASURES[name]}")


if __name__ == "__main__":
    main()
