"""`statgraph embed`: the articles of a corpus -> their vectors, on many machines."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress
from statgraph.contrib.sharding.article_shards import SHARD_KIB
from statgraph.extras import require


@click.command()
@options.run
@click.option(
    "--corpus", metavar="URI", required=True, help="Corpus folder, or JSON Lines or Parquet shards; also s3://..."
)
@click.option("--out", metavar="URI", required=True, help="Folder or s3://... to write the vectors to, as Parquet.")
@click.option("--address", metavar="URI", help="Ray cluster, such as ray://HEAD:10001.  [default: this machine]")
@options.number("--actors", help="At most so many encode at a time.  [default: one on each CPU, or on each GPU]")
@options.number("--shard", metavar="KIB", default=SHARD_KIB, help="How much text a shard has.")
@options.device
def embed(
    run: Path | None, corpus: str, out: str, address: str | None, actors: int | None, shard: int, device: str
) -> None:
    """Embed the articles of a corpus with a run's article encoder, on the machines of a Ray cluster.

    Run again, it goes on where it was stopped. Every machine must reach --corpus and --out; the encoder is sent along.
    `statgraph update --vectors URI` takes the vectors into a run, and of a run with a graph enriches them by it.
    """
    from statgraph.contrib.sharding.ray_embedding import Embedding
    from statgraph.contrib.sharding.ray_embedding import embed as embed_corpus
    from statgraph.runs.run import RunFolder

    require("sharding", "ray")
    what = Embedding(corpus, out, address=address, actors=actors, device=device, shard_kib=shard)
    folder = options.chosen_run(run)
    with TerminalProgress() as progress:
        summary = embed_corpus(RunFolder.read(folder), what, progress)
    click.echo(f"Vectors of {corpus} at {out}: encoder of {folder}, {summary.seconds:.1f} s")
    click.echo(f"  articles  {summary.articles:,} embedded")
    click.echo(f"  shards    {summary.shards:,}, {summary.there_before:,} of them there before")
