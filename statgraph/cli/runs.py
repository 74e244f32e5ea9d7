"""`statgraph runs`: which runs there are, what one of them is, and removing one."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from statgraph.cli import options
from statgraph.cli.terminal import megabytes, print_steps, visible

if TYPE_CHECKING:
    from statgraph.systems.run_list import RunFacts

_COLUMNS = ("run", "corpus", "articles", "questions", "system", "finished", "quality", "alone", "shared")


@click.group("runs", invoke_without_command=True)
@options.json
@click.pass_context
def runs(ctx: click.Context, as_json: bool) -> None:
    """List the runs under runs/, the newest first.

    Questions are those that it was trained on, quality is that on dev, "-" where nothing was measured. "alone" is what
    removing the run frees, "shared" what other runs or the cache have as well.
    """
    if ctx.invoked_subcommand:
        return
    from statgraph.errors import RunError, on_command_line
    from statgraph.runs.folders import RUNS
    from statgraph.systems.run_list import listed_runs

    listed = list(listed_runs())
    facts = [run for run in listed if not isinstance(run, RunError)]
    if as_json:
        click.echo(json.dumps([asdict(run) for run in facts], ensure_ascii=False, indent=2))
    elif facts:
        rows = [_COLUMNS, *map(_row, facts)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:  # a line a run: a narrow terminal would fold the cells of a table
            click.echo("  ".join(map(str.ljust, row, widths)).rstrip())
    else:
        click.echo(f"No finished run under {RUNS}/; train one with 'statgraph train'")
    for run in listed:
        if isinstance(run, RunError):
            click.echo(on_command_line(run), err=True)


@runs.command("show")
@click.argument("name")
@options.json
def show(name: str, as_json: bool) -> None:
    """Show what the run NAME is: a name under runs/, or a folder."""
    from statgraph.runs.run import RunFolder
    from statgraph.systems.run_list import RunFacts, named_run

    folder = named_run(name)
    facts, run = RunFacts.of(folder), RunFolder.read(folder)
    if as_json:
        click.echo(json.dumps(asdict(facts) | {"manifest": run.to_dict()}, ensure_ascii=False, indent=2))
        return
    for name, value in asdict(facts).items():
        click.echo(f"{name:<13} {megabytes(value) if name.endswith('bytes') else '-' if value is None else value}")
    for package, version in run.versions.items():
        click.echo(f"{package:<13} {version}")
    print_steps(run.steps)


@runs.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(name: str, yes: bool) -> None:
    """Remove the run NAME: a name under runs/, or a folder. A run that is being changed or served is refused."""
    from statgraph.systems.run_list import named_run, remove_run

    folder = named_run(name)
    if not yes and folder.is_dir():
        click.confirm(f"Remove {folder}?", abort=True)
    remove_run(folder)
    click.echo(f"Removed {folder}")


def _row(run: RunFacts) -> tuple[str, ...]:
    counts = (run.articles, run.questions, run.quality)
    articles, questions, quality = ("-" if value is None else f"{value:,}" for value in counts)
    sizes = megabytes(run.own_bytes), megabytes(run.shared_bytes)
    return visible(run.name), visible(run.corpus), articles, questions, run.system, run.finished, quality, *sizes
