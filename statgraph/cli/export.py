"""`statgraph export`: a run or a corpus in another tool's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from statgraph.cli import options
from statgraph.corpus.records import SPLITS
from statgraph.errors import UsageError


@dataclass(frozen=True)
class _Request:
    """The options of an export."""

    run: Path | None
    corpus: Path | None
    out: Path | None
    name: str | None
    split: str | None
    public: bool
    device: str


def _encoder(request: _Request) -> str:
    from statgraph.exporting.encoder_folder import export_encoder_folder

    folder = options.chosen_run(request.run)
    export_encoder_folder(folder, request.out)
    return f"{request.out}: the query encoder and article vectors of {folder}"


def _onnx(request: _Request) -> str:
    from statgraph.exporting.onnx_folder import export_onnx

    folder = options.chosen_run(request.run)
    difference = export_onnx(folder, request.out)
    return f"{request.out}: the query encoder of {folder}; vectors differ from torch's by at most {difference:.1e}"


def _faiss(request: _Request) -> str:
    from statgraph.exporting.faiss_folder import export_faiss

    folder = options.chosen_run(request.run)
    return f"{request.out}: the index of {folder} ({export_faiss(folder, request.out)})"


def _beir(request: _Request) -> str:
    from statgraph.exporting.corpus_folder import export_beir

    if request.run is not None and request.split is None:
        raise UsageError("--run: beir uses a run only for its rankings of a split; name the split with --split")
    ranked_by = options.chosen_run(request.run) if request.split is not None else None
    records = options.chosen_corpus(request.corpus)
    export_beir(records, request.out, run=ranked_by, split=request.split, device=request.device)
    ranked = f", and the rankings of {ranked_by} for {request.split}" if ranked_by else ""
    n_questions = sum(len(records.split(split)) for split in SPLITS)
    return f"{request.out}: {len(records.articles):,} articles and {n_questions:,} questions of {records.name}{ranked}"


def _parquet(request: _Request) -> str:
    from statgraph.exporting.corpus_folder import export_parquet

    if request.run is not None:
        raise UsageError("--run: parquet is a format of corpora; name one with --corpus")
    records = options.chosen_corpus(request.corpus)
    export_parquet(records, request.out)
    n_articles, n_questions = len(records.articles), len(records.questions)
    return f"{request.out}: {n_articles:,} articles and {n_questions:,} questions of {records.name}"


def _graphml(request: _Request) -> str:
    from statgraph.exporting.graphml_file import export_corpus_graphml, export_run_graphml

    if request.run is not None and request.corpus is not None:
        raise UsageError("--run and --corpus name two different graphs; give only one of them")
    if request.corpus is not None:
        nodes, edges = export_corpus_graphml(options.chosen_corpus(request.corpus), request.out)
    else:
        nodes, edges = export_run_graphml(options.chosen_run(request.run), request.out)
    return f"{request.out}: {nodes:,} nodes and {edges:,} edges"


def _hub(request: _Request) -> str:
    from statgraph.exporting.hub_repository import push_run

    folder = options.chosen_run(request.run)
    return f"{push_run(folder, request.name, public=request.public)}: the run {folder}"


# Each carries out an export and returns a line on it.
EXPORTS: Mapping[str, Callable[[_Request], str]] = {
    "sentence-transformers": _encoder,
    "onnx": _onnx,
    "faiss": _faiss,
    "beir": _beir,
    "parquet": _parquet,
    "graphml": _graphml,
    "hub": _hub,
}
_OF_CORPORA = ("beir", "parquet", "graphml")


@click.command()
@click.argument("name", required=False)
@options.run
@click.option("--to", "target", type=click.Choice(tuple(EXPORTS)), required=True, help="Format to write.")
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
    if corpus is not None and target not in _OF_CORPORA:
        raise UsageError(f"--corpus: {target} exports a run; name one with --run")
    if split is not None and target != "beir":
        raise UsageError("--split: only for --to beir; omit it")
    if target == "hub" and (name is None or out is not None):
        raise UsageError("hub: name the repository, as in 'statgraph export --to hub OWNER/NAME', in place of --out")
    if target != "hub" and (name is not None or public):
        raise UsageError(f"{name or '--public'}: only for --to hub; omit it")
    if target != "hub" and out is None:
        raise UsageError("--out: missing; name a folder, for graphml a file, that does not exist yet")
    click.echo(EXPORTS[target](_Request(run, corpus, out, name, split, public, device)))
