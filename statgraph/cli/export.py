"""`statgraph export`: a run or a corpus in another tool's format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from statgraph.cli import options
from statgraph.contrib.exports import targets
from statgraph.contrib.exports.targets import BEIR, GRAPHML, HUB, OF_CORPORA, OF_RUNS


@click.command()
@click.argument("name", required=False)
@options.run
@click.option("--to", "target", type=click.Choice((*OF_RUNS, *OF_CORPORA, HUB)), required=True, help="Format to write.")
@options.path("--out", metavar="PATH", help="Folder to write, for graphml a file; must not exist yet.")
@options.path(
    "--corpus",
    help="For beir, csv, parquet and graphml: corpus folder, or the name of a fetched corpus.  "
    "[default but for graphml: the embedded sample]",
)
@click.option("--split", metavar="NAME", help="For beir: also write the run's rankings of train, dev or test, as TREC.")
@click.option("--public", is_flag=True, help="For hub: let everyone read a repository that is made.")
@options.device
def export(
    name: str | None, run: Path | None, target: str, out: Path | None, corpus: Path | None, **given: Any
) -> None:
    """Export a run or a corpus to a format that other tools read. NAME is for hub alone.

    \b
    folder                 a run to serve on another machine
    sentence-transformers  the query encoder, and the article vectors
    onnx                   the query encoder as ONNX, checked against torch
    faiss                  the index, and the article ids
    beir                   a corpus in the layout of BEIR
    csv                    articles and questions as tables to label in
    parquet                a corpus as tables that `statgraph import parquet` reads
    graphml                the tree and the citations of a run, or of --corpus
    hub                    a run as the repository OWNER/NAME of the Hugging Face hub
    """
    hub = target == HUB
    contradictions = {
        f"--corpus: {target} exports a run; name one with --run": corpus and target not in OF_CORPORA,
        "--split: only for --to beir; omit it": given["split"] is not None and target != BEIR,
        "hub: name the repository, as in 'statgraph export --to hub OWNER/NAME', in place of --out": (
            hub and (name is None or out is not None)
        ),
        f"{name or '--public'}: only for --to hub; omit it": not hub and (name is not None or given["public"]),
        "--out: missing; name a folder, for graphml a file, that does not exist yet": not hub and out is None,
        "--run: beir uses a run only for its rankings of a split; name the split with --split": (
            target == BEIR and run and given["split"] is None
        ),
        f"--run: {target} is a format of corpora; name one with --corpus": target in ("csv", "parquet") and run,
        "--run and --corpus name two different graphs; give only one of them": run and corpus and target == GRAPHML,
    }
    options.refuse(contradictions)
    of_run = target not in OF_CORPORA or (target == GRAPHML and corpus is None)
    ranked_by = options.chosen_run(run) if given["split"] is not None else None
    source = options.chosen_run(run) if of_run else options.chosen_corpus(corpus)
    place = out or name
    assert place is not None
    done = targets.export(source, target, place, ranked_by=ranked_by, **given)
    click.echo(f"{done.place}: {done.about}")
