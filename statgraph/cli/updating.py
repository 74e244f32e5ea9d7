"""`statgraph update`, `add`, `remove`, `index` and `quicken`: what changes a finished run without training."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress, print_steps
from statgraph.config import INDEX_KINDS, IndexConfig
from statgraph.errors import UsageError

if TYPE_CHECKING:  # they load what computes vectors
    from statgraph.systems.updating.update import UpdateSummary

_MIB = 2**20


@click.command()
@options.run
@options.path("--corpus", required=True, help="Corpus folder of the new version, or the name of a fetched corpus.")
@options.path("--out", help="Folder for the updated run.  [default: the run itself, updated completely or not at all]")
@click.option("--dry-run", is_flag=True, help="Show what the update would do, without doing it.")
@click.option("--full", is_flag=True, help="Embed and compute everything again, changed or not.")
@click.option("--vectors", metavar="URI", help="Vectors of its texts that `statgraph embed` wrote, not embedded again.")
@options.json
@options.device
def update(run: Path | None, corpus: Path, as_json: bool, **how: Any) -> None:
    """Update a finished run to a new version of its corpus, without training.

    Articles with the same id are the same article. Only changed texts are embedded, and only the vectors that a change
    reaches through the graph are recomputed.
    """
    from statgraph import api

    folder, records = options.chosen_run(run), options.chosen_corpus(corpus)
    with TerminalProgress() as progress:
        summary = api.update(folder, records, **how, progress=progress).summary
    assert summary is not None
    if as_json:
        click.echo(json.dumps(summary.to_dict(), indent=2))
    else:
        _print_update(summary, folder, records.name, dry_run=how["dry_run"])


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@options.run
@click.option("--id", metavar="ID", help="Id of an article, in place of FILE.")
@click.option("--text", metavar="TEXT", help="Its text.")
@click.option("--path", metavar="PATH", help="The headings above it, from the code down: 'CODE > BOOK > TITLE'.")
@click.option("--number", metavar="TEXT", help="Its number, as its code writes it.")
@click.option("--title", metavar="TEXT", help="How it is cited.  [default: its number and its code]")
@click.option("--rubric", metavar="TEXT", help="Its own heading.")
@click.option("--valid-from", metavar="DATE", help="First day in force.")
@click.option("--valid-to", metavar="DATE", help="First day no longer in force.")
@click.option("--replace", "overwrite", is_flag=True, help="Replace an article that has the same id.")
@options.json
@options.device
def add(file: Path | None, run: Path | None, overwrite: bool, as_json: bool, device: str, **article: Any) -> None:
    """Add single articles to a finished run, without a corpus folder and without training.

    FILE holds an article a line, in JSON as `statgraph import jsonl` reads it: {"id": "7a", "text": "...", "path":
    ["Town Code", "Book I"]}. One article can be given by --id, --text and --path instead.
    """
    from statgraph.formats.tables import split_path

    given = {name: value for name, value in article.items() if value is not None}
    if "path" in given:
        given["path"] = split_path(given["path"])
    wrong = (file is None) != bool(given)
    options.refuse({"give either a FILE of articles, or one article by --id, --text and --path": wrong})
    _edit(run, device, as_json, add=file if file is not None else [given], overwrite=overwrite)


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@options.run
@options.json
@options.device
def remove(ids: tuple[str, ...], run: Path | None, as_json: bool, device: str) -> None:
    """Remove single articles from a finished run, by their ids, without a corpus folder and without training."""
    _edit(run, device, as_json, remove=ids)


def _edit(run: Path | None, device: str, as_json: bool, **edits: Any) -> None:
    from statgraph.systems.updating.editing import edit_run
    from statgraph.systems.updating.update import TextVectors

    folder = options.chosen_run(run)
    with TerminalProgress() as progress:
        summary = edit_run(folder, texts=TextVectors(device, progress), **edits)
    if as_json:
        click.echo(json.dumps(summary.to_dict(), indent=2))
    else:
        _print_update(summary, folder, f"{summary.articles:,} articles", dry_run=False)


def _print_update(summary: UpdateSummary, run: Path, corpus_name: str, *, dry_run: bool) -> None:
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


@click.command()
@options.run
@click.option(
    "--kind",
    type=click.Choice(INDEX_KINDS),
    default=IndexConfig.kind,
    help=f"flat is exact; auto is flat up to {IndexConfig.flat_most:,} articles, then ivf-pq.",
)
@options.settings("One setting, such as ivf_pq.probes=128 or ivf_pq.precision=float16; repeatable.")
@options.engine
@click.option(
    "--to",
    "engine_uri",
    metavar="URI",
    help="Folder, s3://... or http://... to write the vectors to, with the columns that filters ask for.",
)
def index(run: Path | None, kind: str, settings: tuple[str, ...], engine: str, engine_uri: str | None) -> None:
    """Rebuild the index of a finished run as another kind, or write its vectors to an index engine.

    The new index replaces the old one completely or not at all; search and evaluate then use it. ivf-pq is faster on
    millions of articles but may miss some.

    With --to the run stays as it is: `search` and `serve` ask the engine with the same --engine and --from URI. Written
    again after an update, only what has changed is sent to lance, and readers of the former state go on with it.
    """
    from statgraph.retrieval.search import engine_index, reindexing
    from statgraph.settings import with_settings

    for setting in settings:
        name, _, value = setting.partition("=")
        if name.strip() == "kind":
            raise UsageError(f"--set: 'kind' has its own option; use --kind {value.strip()}")
    address = options.engine_address(engine, engine_uri, "--to")
    if settings and engine != "faiss":
        raise UsageError(f"--set: these are settings of engine faiss; leave it out with --engine {engine}")
    config = replace(with_settings(IndexConfig(), settings), kind=kind)
    folder = options.chosen_run(run)
    if address is not None:
        summary = engine_index.write_to_engine(folder, address, config)
        click.echo(f"Vectors of {folder} at {address.uri}: {address.name}, written in {summary.seconds:.2f} s")
        click.echo(f"  articles  {summary.written.articles:,}")
        click.echo(f"  changed   {summary.written.changed:,}")
        click.echo(f"  removed   {summary.written.removed:,}")
        click.echo(f"  state     {summary.key}")
        return
    built = reindexing.reindex(folder, config)
    click.echo(f"Index of {folder}: {built.kind}, built in {built.seconds:.2f} s")
    click.echo(f"  articles  {built.articles:,}")
    click.echo(f"  memory    {built.memory_bytes / _MIB:,.1f} MiB")
    click.echo(f"  disk      {built.disk_bytes / _MIB:,.1f} MiB")
    if built.rounded:
        click.echo("  vectors   rounded to float16, also in another kind; train the run again for full precision")


@click.command()
@options.run
def quicken(run: Path | None) -> None:
    """Speed up a run's query encoder on CPU.

    Writes an ONNX Runtime graph beside the weights of a transformer query encoder, of each member in an ensemble,
    and checks it against sentence-transformers. With the extra `onnx` installed, `train`
    writes the graph itself.
    """
    from statgraph.retrieval.search import reindexing

    done = reindexing.quicken(options.chosen_run(run))
    written = ", ".join(map(str, done.paths))
    click.echo(f"Wrote {written}: vectors differ from sentence-transformers' by at most {done.difference:.0e}")
