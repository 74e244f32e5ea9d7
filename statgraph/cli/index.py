"""`statgraph index`: a run gets another kind of index."""

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
    help="One setting, such as ivf_pq.probes=128, hnsw.search_breadth=512 or ivf_pq.precision=float16; repeatable.",
)
def index(run: Path | None, kind: str, settings: tuple[str, ...]) -> None:
    """Build the index of a finished run anew, of another kind.

    The new index takes the old one's place, whole or not at all; search and evaluate then use it. hnsw and ivf-pq are
    faster on millions of articles and may miss some.
    """
    from statgraph.cli.options import chosen_run
    from statgraph.errors import UsageError
    from statgraph.search.reindexing import reindex
    from statgraph.settings import with_settings

    for setting in settings:
        name, _, value = setting.partition("=")
        if name.strip() == "kind":
            raise UsageError(f"--set: 'kind' has an option of its own; give --kind {value.strip()}")
    config = replace(with_settings(IndexConfig(), settings), kind=kind)
    folder = chosen_run(run)
    summary = reindex(folder, config)
    click.echo(f"Index of {folder}: {summary.kind}, built in {summary.seconds:.2f} s")
    click.echo(f"  articles  {summary.articles:,}")
    click.echo(f"  memory    {summary.memory_bytes / _MIB:,.1f} MiB")
    click.echo(f"  disk      {summary.disk_bytes / _MIB:,.1f} MiB")
    if summary.rounded:
        click.echo("  vectors   rounded to float16, which another kind keeps; train the run again for all bits")
