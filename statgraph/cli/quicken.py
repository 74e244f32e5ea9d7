"""`statgraph quicken`: a run gets the graph with which ONNX Runtime encodes its questions."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import run_option

_N_OPENINGS, _OPENING = 64, 150  # articles, and characters of each: about a long question


@click.command()
@run_option
@click.option(
    "--precision",
    type=click.Choice(("float32", "int8")),
    default="float32",
    show_default=True,
    help="int8: for `search --precision int8`; quicker, and near the same vectors.",
)
def quicken(run: Path | None, precision: str) -> None:
    """Let a finished run whose questions a BERT encodes answer faster on a CPU, by ONNX Runtime.

    Writes a graph beside the query encoder's weights, checked against torch; `train` does so by itself, in float32,
    where statgraph[onnx] is installed.
    """
    from statgraph.cli.options import chosen_run
    from statgraph.inference.fused_export import write_query_graph
    from statgraph.inference.fused_query import QUERY_GRAPHS
    from statgraph.runs.run import Run
    from statgraph.search.article_store import ArticleStore

    opened = Run.read(chosen_run(run))
    opened.require_vectors()
    encoder = opened.query_encoder
    texts = _openings(ArticleStore(opened.folder)) if precision == "int8" else ()
    difference = write_query_graph(encoder, precision, texts)
    click.echo(f"Wrote {encoder / QUERY_GRAPHS[precision]}: vectors differ by {difference:.0e} at most from torch's")


def _openings(articles) -> list[str]:
    """Return how some of a run's articles begin, from all over the law."""
    count = min(_N_OPENINGS, len(articles))
    rows = [len(articles) * number // count for number in range(count)]
    return [article.text[:_OPENING] for article in articles.read(rows)]
