"""`statgraph update`: a run and a new version of its law -> the updated run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress, print_steps


@click.command()
@options.run
@options.path("--corpus", required=True, help="Corpus folder of the new version, or the name of a fetched corpus.")
@options.path("--out", help="Folder for the updated run.  [default: the run itself, updated completely or not at all]")
@click.option("--dry-run", is_flag=True, help="Show what the update would do, without doing it.")
@click.option("--full", is_flag=True, help="Embed and compute everything again, changed or not.")
@click.option("--vectors", metavar="URI", help="Vectors of its texts that `statgraph embed` wrote, not embedded again.")
@options.json
@options.device
def update(
    run: Path | None,
    corpus: Path,
    out: Path | None,
    dry_run: bool,
    full: bool,
    vectors: str | None,
    as_json: bool,
    device: str,
) -> None:
    """Update a finished run to a new version of its corpus, without training.

    Articles with the same id are the same article. Only changed texts are embedded, and only the vectors that a change
    reaches through the graph are recomputed.
    """
    from statgraph.encoders.sharding.vector_shards import VectorShards
    from statgraph.systems.updating.update import TextVectors, update_run

    folder = options.chosen_run(run)
    shards = None if vectors is None else VectorShards(vectors)
    records = options.chosen_corpus(corpus)
    with TerminalProgress() as progress:
        texts = TextVectors(device, progress, shards)
        summary = update_run(folder, records, out=out, dry_run=dry_run, full=full, texts=texts)
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
    click.echo(f"  articles   {', '.join(kinds)}, {counts['unchanged']:,} unchanged")
    for name, change in (("headings", summary.headings), ("citations", summary.citations)):
        if change is not None:
            click.echo(f"  {name:<10} {change[0]:,} added, {change[1]:,} removed")
    taken = f", {summary.taken:,} of them taken from --vectors" if summary.taken else ""
    click.echo(f"  embedded   {summary.embedded:,} texts{taken}")
    click.echo(f"  computed   {summary.recomputed:,} of {summary.articles:,} article vectors")
    print_steps(summary.steps)
    if dry_run:
        click.echo("Nothing written")
    elif not summary.written:
        click.echo(f"Nothing to do: {run} is up to date")
    else:
        click.echo(f"Run folder: {summary.run}")
