"""`statgraph reproduce`: a table of the papers, reproduced on a corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from statgraph.cli.options import corpus_option, device_option

WORK_FOLDER = Path("runs") / "reproduce"


@click.command()
@click.argument("table", metavar="TABLE", required=False)
@corpus_option
@click.option(
    "--seeds", metavar="N", type=click.IntRange(min=1), default=3, show_default=True, help="Runs a row, from seed 0."
)
@click.option(
    "--backbone", metavar="NAME", default="", help="Of every dense row.  [default: what the machine can train]"
)
@click.option("--backbones", metavar="A,B,...", default="", help="Of a table that compares them (gdsr-table3).")
@click.option("--only", metavar="ROW", multiple=True, help="Run this row alone; repeatable.")
@click.option("--split", metavar="NAME", default="test", show_default=True, help="train, dev or test.")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for table.md and table.json.  [default: results/ and the names of table, corpus and backbone]",
)
@click.option(
    "--work",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=WORK_FOLDER,
    show_default=True,
    help="Folder of the runs, which all tables share.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="A.B=C", help="Set one value of every row's configuration; repeatable."
)
@click.option("--keep-runs", is_flag=True, help="Keep the trained encoders and indexes, too.")
@click.option("--list", "listing", is_flag=True, help="List the tables, or the rows of TABLE, and stop.")
@device_option
@click.pass_context
def reproduce(
    ctx: click.Context,
    table: str | None,
    corpus: Path | None,
    seeds: int,
    backbone: str,
    backbones: str,
    only: tuple[str, ...],
    split: str,
    out: Path | None,
    work: Path,
    settings: tuple[str, ...],
    keep_runs: bool,
    listing: bool,
    device: str,
) -> None:
    """Reproduce a table or figure of the papers: train its rows, measure them, compare them.

    Finished runs are kept and interrupted ones are resumed, so the command can be stopped and started again. --list
    shows the tables.

    The exit code is 1 if a run failed or another process works on it: the table is then made without it.
    """
    import shlex

    from statgraph.cli.options import chosen_corpus
    from statgraph.cli.progress import TerminalProgress
    from statgraph.errors import UsageError
    from statgraph.runs.provenance import published_arguments, published_path
    from statgraph.studies.spec import read_table, table_names, with_backbones

    if not table:
        if not listing:
            raise UsageError(f"TABLE: is missing; choose from {', '.join(table_names())}")
        for name in table_names():
            click.echo(f"{name:<16}  {read_table(name).title}")
        return
    spec = with_backbones(read_table(table), tuple(name.strip() for name in backbones.split(",") if name.strip()))
    if listing:
        click.echo(f"{spec.name}: {spec.title}\nAfter {spec.source}")
        for row in spec.rows:
            click.echo(f"  {row.name:<44}  {' '.join((row.system, *row.settings))}")
        return
    from statgraph.studies.reproduce import Request, default_folder
    from statgraph.studies.reproduce import reproduce as make_table

    request = Request(
        spec=spec,
        seeds=seeds,
        split=split,
        work=work,
        command=shlex.join(["statgraph", *published_arguments(sys.argv[1:])]),
        corpus_folder="" if corpus is None else published_path(corpus),
        backbone=backbone,
        settings=(*([] if device == "auto" else [f"device={device}"]), *settings),
        only=only,
        keep_runs=keep_runs,
    )
    records = chosen_corpus(corpus)
    try:
        made = make_table(
            request,
            records,
            out if out is not None else default_folder(request, records.name),
            display=TerminalProgress,
            on_line=lambda line: click.echo(line, err=True),
        )
    except KeyboardInterrupt:
        click.echo("To go on with it, run the same command again", err=True)
        raise
    click.echo("\n".join(made.main))
    click.echo(f"\nTable folder: {made.folder}")
    for line in made.missing:
        click.echo(f"Missing: {line}", err=True)
    ctx.exit(1 if made.missing else 0)
