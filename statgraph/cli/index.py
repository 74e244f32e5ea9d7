"""`statgraph index`: give a run another kind of index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from statgraph.cli.options import run_option
from statgraph.config import INDEX_KINDS, IndexConfig

_MIB = 2**20


@click.command()
@run_option
@click.option(
    "--kind",
    type=click.Choice(INDEX_KINDS),
    default=IndexConfig.kind,
    show_default=True,
    help=f"flat is exact; auto is flat up to {IndexConfig.flat_most:,} articles, then ivf-pq.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="A.B=C",
    help="One setting, such as ivf_pq.probes=128 or ivf_pq.precision=float16; repeatable.",
)
def index(run: Path | None, kind: str, settings: tuple[str, ...]) -> None:
    """Rebuild the index of a finished run as another kind.

    The new index replaces the old one, whole or not at all; search and evaluate then use it. ivf-pq is faster on
    millions of articles and may miss some. A run with an index of the former kind hnsw is converted.
    """
    from statgraph.cli.options import chosen_run
    from statgraph.errors import UsageError
    from statgraph.search.reindexing import reindex
    from statgraph.settings import with_settings

    for setting in settings:
        name, _, value = setting.partition("=")
        if name.strip() == "kind":
            raise UsageError(f"--set: 'kind' has its own option; use --kind {value.strip()}")
    config = replace(with_settings(IndexConfig(), settings), kind=kind)
    folder = chosen_run(run)
    summary = reindex(folder, config)
    click.echo(f"Index of {folder}: {summary.kind}, built in {summary.seconds:.2f} s")
    click.echo(f"  articles  {summary.articles:,}")
    click.echo(f"  memory    {summary.memory_bytes / _MIB:,.1f} MiB")
    click.echo(f"  disk      {summary.disk_bytes / _MIB:,.1f} MiB")
    if summary.rounded:
        click.echo("  vectors   rounded to float16, also in another kind; train the run again for full precision")
