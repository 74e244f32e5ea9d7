"""`statgraph runs`: which runs there are, what one of them is, and removing one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from statgraph.cli import options
from statgraph.cli.terminal import megabytes, visible

_COLUMNS = ("run", "corpus", "articles", "system", "finished", "quality", "alone", "shared")
_NUMBERS = ("articles", "quality", "alone", "shared")


@click.group("runs", invoke_without_command=True)
@options.json
@click.pass_context
def runs(ctx: click.Context, as_json: bool) -> None:
    """List the runs under runs/, the newest first.

    Quality is that on dev, "-" where nothing was measured. "alone" is what removing the run frees, "shared" what other
    runs or the cache have as well.
    """
    if ctx.invoked_subcommand:
        return
    from statgraph.errors import RunError
    from statgraph.systems.run_list import RUNS, listed_runs

    listed = list(listed_runs())
    facts = [run for run in listed if not isinstance(run, RunError)]
    if as_json:
        click.echo(json.dumps([asdict(run) for run in facts], ensure_ascii=False, indent=2))
    elif facts:
        _print_aligned([_COLUMNS, *map(_row, facts)])
    else:
        click.echo(f"No finished run under {RUNS}/; train one with 'statgraph train'")
    for run in listed:
        if isinstance(run, RunError):
            click.echo(str(run), err=True)


@runs.command("show")
@click.argument("name")
@options.json
def show(name: str, as_json: bool) -> None:
    """Show what the run NAME is: a name under runs/, or a folder."""
    from statgraph.systems.run_list import Run, RunFacts, named_run

    folder = named_run(name)
    facts, run = RunFacts.of(folder), Run.read(folder)
    if as_json:
        click.echo(json.dumps(asdict(facts) | {"manifest": run.to_dict()}, ensure_ascii=False, indent=2))
        return
    click.echo(f"{folder}: {run.config.system}, seed {run.config.seed}")
    shown = {
        "corpus": f"{facts.corpus} ({facts.language}), {_whole(facts.articles)} articles",
        "finished": facts.finished + (f", after {facts.updates:,} updates" if facts.updates else ""),
        "quality": f"{_points(facts.quality)} on dev",
        "members": ", ".join(run.config.ensemble.members) if run.kind.has_members else "",
        "teacher": run.teacher,
        "final": run.final and f"on all questions, after {run.final}",
        "made with": ", ".join(f"{package} {run.versions[package]}" for package in run.versions),
        "disk": f"{megabytes(facts.own_bytes)} alone, {megabytes(facts.shared_bytes)} shared",
    }
    for what, value in shown.items():
        if value:
            click.echo(f"  {what:<10} {value}")


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


def _print_aligned(rows: Sequence[Sequence[str]]) -> None:
    """Print a line a run, which a narrow terminal does not fold cell by cell; counts and sizes are aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
            for name, cell, width in zip(_COLUMNS, row, widths, strict=True)
        ]
        click.echo("  ".join(cells))


def _row(run) -> tuple[str, ...]:
    sizes = (megabytes(run.own_bytes), megabytes(run.shared_bytes))
    return (
        visible(run.name),
        visible(run.corpus),
        _whole(run.articles),
        run.system,
        run.finished,
        _points(run.quality),
        *sizes,
    )


def _whole(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _points(quality: float | None) -> str:
    return "-" if quality is None else f"{quality:.1f}"
