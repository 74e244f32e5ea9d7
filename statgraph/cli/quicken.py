"""`statgraph quicken`: a run gets the graph with which ONNX Runtime encodes its questions."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import run_option


@click.command()
@run_option
def quicken(run: Path | None) -> None:
    """Let a finished run whose questions a BERT encodes answer faster on a CPU, by ONNX Runtime.

    Writes a small graph beside the query encoder's weights, checked against torch; `train` does so by itself where
    statgraph[onnx] is installed.
    """
    from statgraph import artifacts
    from statgraph.cli.options import chosen_run
    from statgraph.errors import RunError
    from statgraph.search.run_manifest import read_run_manifest
    from statgraph.text.fused_export import write_query_graph
    from statgraph.text.fused_query import QUERY_GRAPH

    folder = chosen_run(run)
    if read_run_manifest(folder)["config"].get("retriever") == "bm25":
        raise RunError(f"{folder}: ranks by BM25 and has no query encoder; name a run of another system with --run")
    encoder = folder / artifacts.RUN_QUERY_ENCODER
    difference = write_query_graph(encoder)
    click.echo(f"Wrote {encoder / QUERY_GRAPH}: vectors differ by {difference:.0e} at most from torch's")
