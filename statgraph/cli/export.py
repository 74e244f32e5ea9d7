"""`statgraph export`: a run or a corpus in the format of another tool."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import device_option, run_option

FORMATS = ("sentence-transformers", "onnx", "faiss", "beir", "graphml")
_OF_RUNS = FORMATS[:3]


@click.command()
@run_option
@click.option("--to", "target", type=click.Choice(FORMATS), required=True, help="The format.")
@click.option(
    "--out",
    metavar="PATH",
    type=click.Path(path_type=Path),
    required=True,
    help="Where to write: a folder, for graphml a file; it must not be there yet.",
)
@click.option(
    "--corpus",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Corpus folder, or the name of a fetched one; for beir and graphml.  [beir default: the embedded sample]",
)
@click.option("--split", metavar="NAME", help="For beir: also what the run finds for train, dev or test, as TREC.")
@device_option
def export(run: Path | None, target: str, out: Path, corpus: Path | None, split: str | None, device: str) -> None:
    """Write a run, or a corpus, in a format that other tools read.

    \b
    sentence-transformers  the query encoder, and the article vectors beside it
    onnx                   the query encoder as ONNX, checked against torch
    faiss                  the index, and the article ids
    beir                   a corpus in the layout of BEIR
    graphml                the tree and the citations of a run, or of --corpus
    """
    from statgraph.errors import UsageError

    if corpus is not None and target in _OF_RUNS:
        raise UsageError(f"--corpus: {target} is made of a run; name one with --run")
    if split is not None and target != "beir":
        raise UsageError("--split: is for --to beir; leave it out")
    if target == "beir":
        said = _beir(run, out, corpus, split, device)
    elif target == "graphml":
        said = _graphml(run, out, corpus)
    else:
        said = _of_run(run, target, out)
    click.echo(f"{out}: {said}")


def _of_run(run: Path | None, target: str, out: Path) -> str:
    from statgraph.cli.options import chosen_run

    folder = chosen_run(run)
    if target == "faiss":
        from statgraph.exporting.faiss_folder import export_faiss

        return f"the index of {folder} ({export_faiss(folder, out)})"
    if target == "onnx":
        from statgraph.exporting.onnx_folder import export_onnx

        difference = export_onnx(folder, out)
        return f"the query encoder of {folder}, at most {difference:.1e} from torch"
    from statgraph.exporting.encoder_folder import export_encoder_folder

    export_encoder_folder(folder, out)
    return f"the query encoder and article vectors of {folder}"


def _beir(run: Path | None, out: Path, corpus: Path | None, split: str | None, device: str) -> str:
    from statgraph.cli.options import chosen_corpus, chosen_run
    from statgraph.errors import UsageError
    from statgraph.exporting.beir_folder import export_beir

    if run is not None and split is None:
        raise UsageError("--run: beir takes a run for its rankings of a split; name the split with --split")
    ranked_by = chosen_run(run) if split is not None else None
    records = chosen_corpus(corpus)
    export_beir(records, out, run=ranked_by, split=split, device=device)
    ranked = f", and what {ranked_by} finds for {split}" if ranked_by else ""
    return f"{len(records.articles):,} articles and {len(records.questions):,} questions of {records.name}{ranked}"


def _graphml(run: Path | None, out: Path, corpus: Path | None) -> str:
    from statgraph.cli.options import chosen_corpus, chosen_run
    from statgraph.errors import UsageError
    from statgraph.exporting.graphml_file import export_corpus_graphml, export_run_graphml

    if run is not None and corpus is not None:
        raise UsageError("--run and --corpus: each is a graph of its own; name one of them")
    if corpus is not None:
        nodes, edges = export_corpus_graphml(chosen_corpus(corpus), out)
    else:
        nodes, edges = export_run_graphml(chosen_run(run), out)
    return f"{nodes:,} nodes and {edges:,} edges"
