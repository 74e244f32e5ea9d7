"""`statgraph reproduce`: a table or figure, from the papers or of the ensemble, on a corpus."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress
from statgraph.errors import UsageError
from statgraph.progress import resumable

if TYPE_CHECKING:
    from statgraph.law.records import Corpus
    from statgraph.studies.reproduce import Request
    from statgraph.studies.spec import TableSpec

WORK_FOLDER = Path("runs") / "reproduce"


@click.command()
@click.argument("table", metavar="TABLE", required=False)
@options.corpus
@options.number("--seeds", default=3, help="Runs per row, from seed 0.")
@click.option("--backbone", metavar="NAME", help="Backbone of every dense row.  [default: what the machine can train]")
@click.option("--backbones", metavar="A,B,...", help="Backbones of a table that compares them.")
@click.option("--only", metavar="ROW", multiple=True, help="Run only this row; repeatable.")
@click.option("--split", metavar="NAME", default="test", help="train, dev or test.")
@options.path(
    "--out",
    help="Folder for table.md and table.json.gz.  [default: results/ and the names of table, corpus and backbone]",
)
@options.path("--work", default=WORK_FOLDER, help="Folder of the runs, shared by all tables.")
@options.settings("Override one setting of every row; repeatable.")
@click.option("--keep-runs", is_flag=True, help="Keep the trained encoders and indexes too.")
@options.path(
    "--check",
    metavar="PATH",
    help="A published table.json.gz, or a folder of them: compute every figure of its own summary, and of the table.md "
    "beside it if there is one, again from its values by question, compare the records of its runs (settings, commit) "
    "with their digests, and exit.",
)
@click.option("--list", "listing", is_flag=True, help="List the tables, or the rows of TABLE, and exit.")
@options.device
@click.pass_context
def reproduce(
    ctx: click.Context,
    /,
    table: str | None,
    corpus: Path | None,
    backbone: str | None,
    backbones: str | None,
    settings: tuple[str, ...],
    out: Path | None,
    check: Path | None,
    listing: bool,
    device: str,
    **plan: Any,
) -> None:
    """Reproduce a table or figure from the papers, or of the ensemble: train its rows, measure and compare them.

    Finished runs are not repeated and interrupted ones are resumed, so the same command can be stopped and run again.
    --list shows the tables.

    The exit code is 1 if a run failed or is in use by another process; the table is then made without it.
    """
    import shlex

    from statgraph.runs.provenance import published, published_path
    from statgraph.studies.spec import read_table, with_backbones

    names = tuple(name.strip() for name in (backbones or "").split(",") if name.strip())
    spec = with_backbones(read_table(table), names) if table else None
    if check is not None:
        ctx.exit(_check(spec.name if spec else "", check))
    if listing or spec is None:
        _list(spec, listing)
        return
    from statgraph.studies.reproduce import Request

    request = Request(
        spec=spec,
        command=shlex.join(["statgraph", *published(sys.argv[1:])]),
        corpus_folder="" if corpus is None else published_path(corpus),
        backbone=backbone or "",
        settings=(*([] if device == "auto" else [f"device={device}"]), *settings),
        **plan,
    )
    ctx.exit(_make(request, options.chosen_corpus(corpus), out))


def _list(spec: TableSpec | None, listing: bool) -> None:
    """Print the rows of a table, or all tables if none is named and the list was asked for."""
    from statgraph.studies.spec import read_table, table_names

    if spec is not None:
        click.echo(f"{spec.name}: {spec.title}\nAfter {spec.source}")
        for row in spec.rows:
            click.echo(f"  {row.name:<44}  {' '.join((row.system, *row.settings))}")
    elif listing:
        for name in table_names():
            click.echo(f"{name:<16}  {read_table(name).title}")
    else:
        raise UsageError(f"TABLE is missing; choose from {', '.join(table_names())}")


def _check(table: str, path: Path) -> int:
    """Print whether a published table, or each of a folder, follows from its JSON, and return the exit code."""
    from statgraph.studies.table_files import check_folder, check_table, markdown_beside

    tables = check_folder(path) if path.is_dir() else {path: check_table(table, path)}
    for path, checked in tables.items():
        for problem in checked.problems:
            click.echo(problem, err=True)
        if not checked.problems:
            beside = markdown_beside(path)
            of_page = f" of {beside.name}" if beside.is_file() else ""
            click.echo(f"{path}: all {checked.n_figures:,} figures{of_page} follow from it")
    return 1 if any(checked.problems for checked in tables.values()) else 0


def _make(request: Request, records: Corpus, out: Path | None) -> int:
    """Make the table, print it, and return the exit code."""
    from statgraph.studies.reproduce import default_folder, reproduce

    folder = out if out is not None else default_folder(request, records.name)
    with resumable("again"):
        made = reproduce(
            request, records, folder, display=TerminalProgress, on_line=lambda line: click.echo(line, err=True)
        )
    click.echo("\n".join(made.main))
    click.echo(f"\nTable folder: {made.folder}")
    for line in made.missing:
        click.echo(f"Missing: {line}", err=True)
    return 1 if made.missing else 0
