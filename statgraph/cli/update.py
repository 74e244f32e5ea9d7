"""`statgraph update`: a run takes a new version of its law."""

from __future__ import annotations

import json
from pathlib import Path

import click

from statgraph.cli.options import device_option, json_option, run_option


@click.command()
@run_option
@click.option(
    "--corpus",
    metavar="DIR",
    type=click.Path(path_type=Path),
    required=True,
    help="Corpus folder of the new version, or the name of a fetched one.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the updated run.  [default: the run itself, changed whole or not at all]",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--full", is_flag=True, help="Embed and compute everything anew, changed or not.")
@json_option
@device_option
def update(
    run: Path | None, corpus: Path, out: Path | None, dry_run: bool, full: bool, as_json: bool, device: str
) -> None:
    """Bring a finished run to a new version of its corpus, without training.

    Articles with equal ids are the same article. Only what changed is embedded, and only the vectors that the change
    reaches through the graph are computed anew.
    """
    from statgraph.cli.options import chosen_corpus, chosen_run
    from statgraph.cli.progress import TerminalProgress
    from statgraph.systems.updating.update import update_run

    folder = chosen_run(run)
    records = chosen_corpus(corpus)
    with TerminalProgress() as progress:
        summary = update_run(
            folder, records, out=out, dry_run=dry_run, full=full, device=device, on_step=progress.on_step
        )
    if as_json:
        click.echo(json.dumps(summary.to_dict(), indent=2))
        return
    _print(summary, folder, records.name, dry_run=dry_run)


def _print(summary, run: Path, corpus_name: str, *, dry_run: bool) -> None:
    counts = summary.changes.counts()
    parts = [f"{count:,} {part}" for part, count in counts["amended_parts"].items() if count]
    amended = f"{counts['amended']:,} amended" + (f" ({', '.join(parts)})" if parts else "")
    kinds = [f"{counts['added']:,} added", f"{counts['repealed']:,} repealed", amended]
    what = "Dry run of the update" if dry_run else "Update"
    click.echo(f"{what} of {run} to {corpus_name}, {summary.seconds:.1f} s")
    click.echo(f"  articles   {', '.join(kinds)}, {counts['unchanged']:,} as they were")
    for name, change in (("headings", summary.headings), ("citations", summary.citations)):
        if change is not None:
            click.echo(f"  {name:<10} {change[0]:,} added, {change[1]:,} gone")
    click.echo(f"  embedded   {summary.embedded:,} texts")
    click.echo(f"  computed   {summary.recomputed:,} of {summary.articles:,} article vectors")
    for step in summary.steps:
        click.echo(f"  {step['name']:<28}{step['seconds']:>8.1f} s{step['peak_mib']:>8,} MiB")
    if dry_run:
        click.echo("Nothing was written")
    elif not summary.written:
        click.echo(f"Nothing to do: {run} is of this version")
    else:
        click.echo(f"Run folder: {summary.run}")
