"""`statgraph export`: a run or a corpus in another tool's format."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli import options
from statgraph.corpus.records import SPLITS
from statgraph.errors import UsageError

FORMATS = ("sentence-transformers", "onnx", "faiss", "beir", "parquet", "graphml", "hub")
_OF_RUNS = (*FORMATS[:3], "hub")


@click.command()
@click.argument("name", required=False)
@options.run
@click.option("--to", "target", type=click.Choice(FORMATS), required=True, help="Format to write.")
@options.path("--out", metavar="PATH", help="Folder to write, for graphml a file; must not exist yet.")
@options.path(
    "--corpus",
    help="For beir, parquet and graphml: corpus folder, or the name of a fetched corpus.  "
    "[beir and parquet default: the embedded sample]",
)
@click.option("--split", metavar="NAME", help="For beir: also write the run's rankings of train, dev or test, as TREC.")
@click.option("--public", is_flag=True, help="For hub: let everyone read a repository that is made.")
@options.device
def export(
    name: str | None,
    run: Path | None,
    target: str,
    out: Path | None,
    corpus: Path | None,
    split: str | None,
    public: bool,
    device: str,
) -> None:
    """Export a run or a corpus to a format that other tools read. NAME is for hub alone.

    \b
    sentence-transformers  the query encoder, and the article vectors
    onnx                   the query encoder as ONNX, checked against torch
    faiss                  the index, and the article ids
    beir                   a corpus in the layout of BEIR
    parquet                a corpus as tables that `statgraph import parquet` reads
    graphml                the tree and the citations of a run, or of --corpus
    hub                    a run as the repository OWNER/NAME of the Hugging Face hub
    """
    if corpus is not None and target in _OF_RUNS:
        raise UsageError(f"--corpus: {target} exports a run; name one with --run")
    if split is not None and target != "beir":
        raise UsageError("--split: only for --to beir; omit it")
    _check_target(target, name=name, out=out, public=public)
    if target == "hub":
        click.echo(_hub(run, name, public))
        return
    if target == "beir":
        said = _beir(run, out, corpus, split, device)
    elif target == "parquet":
        said = _parquet(run, out, corpus)
    elif target == "graphml":
        said = _graphml(run, out, corpus)
    else:
        said = _of_run(run, target, out)
    click.echo(f"{out}: {said}")


def _check_target(target: str, *, name: str | None, out: Path | None, public: bool) -> None:
    """Raise UsageError if what is to be written is not said, or is said as for another format."""
    if target == "hub":
        if name is None or out is not None:
            raise UsageError(
                "hub: name the repository, as in 'statgraph export --to hub OWNER/NAME', in place of --out"
            )
        return
    if name is not None or public:
        raise UsageError(f"{name or '--public'}: only for --to hub; omit it")
    if out is None:
        raise UsageError("--out: missing; name a folder, for graphml a file, that does not exist yet")


def _hub(run: Path | None, name: str, public: bool) -> str:
    from statgraph.exporting.hub_repository import push_run

    folder = options.chosen_run(run)
    return f"{push_run(folder, name, public=public)}: the run {folder}"


def _of_run(run: Path | None, target: str, out: Path) -> str:
    folder = options.chosen_run(run)
    if target == "faiss":
        from statgraph.exporting.faiss_folder import export_faiss

        return f"the index of {folder} ({export_faiss(folder, out)})"
    if target == "onnx":
        from statgraph.exporting.onnx_folder import export_onnx

        difference = export_onnx(folder, out)
        return f"the query encoder of {folder}; vectors differ from torch's by at most {difference:.1e}"
    from statgraph.exporting.encoder_folder import export_encoder_folder

    export_encoder_folder(folder, out)
    return f"the query encoder and article vectors of {folder}"


def _beir(run: Path | None, out: Path, corpus: Path | None, split: str | None, device: str) -> str:
    from statgraph.exporting.beir_folder import export_beir

    if run is not None and split is None:
        raise UsageError("--run: beir uses a run only for its rankings of a split; name the split with --split")
    ranked_by = options.chosen_run(run) if split is not None else None
    records = options.chosen_corpus(corpus)
    export_beir(records, out, run=ranked_by, split=split, device=device)
    ranked = f", and the rankings of {ranked_by} for {split}" if ranked_by else ""
    n_questions = sum(len(records.split(split)) for split in SPLITS)
    return f"{len(records.articles):,} articles and {n_questions:,} questions of {records.name}{ranked}"


def _parquet(run: Path | None, out: Path, corpus: Path | None) -> str:
    from statgraph.exporting.parquet_folder import export_parquet

    if run is not None:
        raise UsageError("--run: parquet is a format of corpora; name one with --corpus")
    records = options.chosen_corpus(corpus)
    export_parquet(records, out)
    return f"{len(records.articles):,} articles and {len(records.questions):,} questions of {records.name}"


def _graphml(run: Path | None, out: Path, corpus: Path | None) -> str:
    from statgraph.exporting.graphml_file import export_corpus_graphml, export_run_graphml

    if run is not None and corpus is not None:
        raise UsageError("--run and --corpus name two different graphs; give only one of them")
    if corpus is not None:
        nodes, edges = export_corpus_graphml(options.chosen_corpus(corpus), out)
    else:
        nodes, edges = export_run_graphml(options.chosen_run(run), out)
    return f"{nodes:,} nodes and {edges:,} edges"
