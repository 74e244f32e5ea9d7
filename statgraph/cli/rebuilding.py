"""`statgraph index` and `statgraph quicken`: rebuild a part of a finished run so that it answers faster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from statgraph.cli import options
from statgraph.config import INDEX_KINDS, IndexConfig
from statgraph.errors import UsageError

_MIB = 2**20


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
    millions of articles but may miss some. A run with an index of the former kind hnsw is converted.

    With --to the run stays as it is: `search` and `serve` ask the engine with the same --engine and --from URI. Written
    again after an update, only what has changed is sent to lance, and readers of the former state go on with it.
    """
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
    if address is None:
        _rebuild(folder, config)
    else:
        _write_to_engine(folder, address, config)


def _write_to_engine(folder: Path, address, config: IndexConfig) -> None:
    from statgraph.runs.run import Run
    from statgraph.search.engine_index import write_to_engine

    summary = write_to_engine(Run.read(folder), address, config)
    click.echo(f"Vectors of {folder} at {address.uri}: {address.name}, written in {summary.seconds:.2f} s")
    click.echo(f"  articles  {summary.written.articles:,}")
    click.echo(f"  changed   {summary.written.changed:,}")
    click.echo(f"  removed   {summary.written.removed:,}")
    click.echo(f"  state     {summary.key}")


def _rebuild(folder: Path, config: IndexConfig) -> None:
    from statgraph.search.reindexing import reindex

    summary = reindex(folder, config)
    click.echo(f"Index of {folder}: {summary.kind}, built in {summary.seconds:.2f} s")
    click.echo(f"  articles  {summary.articles:,}")
    click.echo(f"  memory    {summary.memory_bytes / _MIB:,.1f} MiB")
    click.echo(f"  disk      {summary.disk_bytes / _MIB:,.1f} MiB")
    if summary.rounded:
        click.echo("  vectors   rounded to float16, also in another kind; train the run again for full precision")


@click.command()
@options.run
@click.option(
    "--precision",
    type=click.Choice(("float32", "int8")),
    default="float32",
    help="int8 is for `search --precision int8`: faster, with vectors that differ slightly.",
)
def quicken(run: Path | None, precision: str) -> None:
    """Speed up a run's query encoder on CPU.

    Writes an ONNX Runtime graph beside the weights of a transformer query encoder and checks it against
    sentence-transformers. With statgraph[onnx] installed, `train` writes the float32 graph itself.
    """
    from statgraph.inference.onnx_export import write_query_graph
    from statgraph.inference.onnx_query import QUERY_GRAPHS
    from statgraph.runs.folders import held_run
    from statgraph.runs.run import Run

    folder = options.chosen_run(run)
    Run.read(folder)  # refuse what is not a run before locking it
    with held_run(folder):
        opened = Run.read(folder)
        opened.require_vectors()
        encoder = opened.query_encoder
        difference = write_query_graph(encoder, precision)
    click.echo(
        f"Wrote {encoder / QUERY_GRAPHS[precision]}: vectors differ from sentence-transformers' by at most "
        f"{difference:.0e}"
    )
