"""`statgraph build-graph`: corpus -> graph folder, with a summary."""

from __future__ import annotations

import time
from pathlib import Path

import click

from statgraph.cli import options
from statgraph.config import GraphConfig
from statgraph.graph.relations import CITING, RELATION_GROUPS, relations_of

_NODES = {CITING: "citing texts"}  # elsewhere the type with an s


@click.command("build-graph")
@click.argument("corpus", type=click.Path(path_type=Path), required=False)
@options.path("--out", help="Graph folder.  [default: graphs/CORPUS]")
@click.option(
    "--relations",
    metavar="A,B,...",
    default=",".join(GraphConfig().relations),
    help=f"Relation groups: {', '.join(RELATION_GROUPS)}; or none.",
)
def build_graph(corpus: Path | None, out: Path | None, relations: str) -> None:
    """Build the graph of CORPUS: its tree of headings, and the questions that cite its articles.

    CORPUS defaults to the embedded sample.
    """
    from statgraph.api import build_graph as build
    from statgraph.graph.build import summary_of
    from statgraph.graph.store import default_folder, write_graph

    groups = tuple(group.strip() for group in relations.split(",") if group.strip() not in ("", "none"))
    relations_of(groups)
    records = options.chosen_corpus(corpus)
    folder = out if out is not None else default_folder(records.name)
    start = time.perf_counter()
    graph = build(records, groups)
    seconds = time.perf_counter() - start
    write_graph(graph, folder)
    summary = summary_of(graph)
    click.echo(f"Built the graph of {records.name} in {seconds:.2f} s: {folder}")
    click.echo(
        "  nodes   " + ", ".join(f"{count:,} {_NODES.get(name, f'{name}s')}" for name, count in summary.nodes.items())
    )
    for name, count in summary.edges.items():
        click.echo(f"  edges   {count:>9,}  {name}")
    click.echo("  depth   " + ", ".join(f"{depth}: {count:,}" for depth, count in summary.headings_by_depth.items()))
    click.echo(f"  cited   {summary.articles_cited:,} articles, by training questions")
    click.echo(f"  orphans {summary.orphan_articles:,} articles without edges")
