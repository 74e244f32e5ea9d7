"""`statgraph export`: a run or a corpus in another tool's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from statgraph.cli import options
from statgraph.corpus.records import SPLITS

if TYPE_CHECKING:
    from statgraph.corpus.records import Corpus


# Each writes a run folder to a place, and returns a line about it.
def _encoder(run: Path, out: Path) -> str:
    from statgraph.exporting.encoder_folder import export_encoder_folder

    export_encoder_folder(run, out)
    return f"the query encoder and article vectors of {run}"


def _onnx(run: Path, out: Path) -> str:
    from statgraph.exporting.onnx_folder import export_onnx

    return f"the query encoder of {run}; vectors differ from torch's by at most {export_onnx(run, out):.1e}"


def _faiss(run: Path, out: Path) -> str:
    from statgraph.exporting.faiss_folder import export_faiss

    return f"the index of {run} ({export_faiss(run, out)})"


def _beir(corpus: Corpus, out: Path, ranked_by: Path | None, split: str | None, device: str) -> str:
    from statgraph.exporting.corpus_folder import export_beir

    export_beir(corpus, out, run=ranked_by, split=split, device=device)
    ranked = f", and the rankings of {ranked_by} for {split}" if ranked_by else ""
    n_questions = sum(len(corpus.split(split)) for split in SPLITS)
    return f"{len(corpus.articles):,} articles and {n_questions:,} questions of {corpus.name}{ranked}"


def _parquet(corpus: Corpus, out: Path) -> str:
    from statgraph.exporting.corpus_folder import export_parquet

    export_parquet(corpus, out)
    return f"{len(corpus.articles):,} articles and {len(corpus.questions):,} questions of {corpus.name}"


def _graphml(run: Path | None, corpus: Path | None, out: Path) -> str:
    from statgraph.exporting.graphml_file import export_corpus_graphml, export_run_graphml

    if corpus is not None:
        nodes, edges = export_corpus_graphml(options.chosen_corpus(corpus), out)
    else:
        nodes, edges = export_run_graphml(options.chosen_run(run), out)
    return f"{nodes:,} nodes and {edges:,} edges"


OF_RUNS: Mapping[str, Callable[[Path, Path], str]] = {"sentence-transformers": _encoder, "onnx": _onnx, "faiss": _faiss}
OF_CORPORA = ("beir", "parquet", "graphml")


@click.command()
@click.argument("name", required=False)
@options.run
@click.option(
    "--to", "target", type=click.Choice((*OF_RUNS, *OF_CORPORA, "hub")), required=True, help="Format to write."
)
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
    _refuse_contradictions(name, run, target, out, corpus, split, public)
    if target == "hub":
        from statgraph.exporting.hub_repository import push_run

        folder = options.chosen_run(run)
        click.echo(f"{push_run(folder, name, public=public)}: the run {folder}")
        return
    if target in OF_RUNS:
        line = OF_RUNS[target](options.chosen_run(run), out)
    elif target == "graphml":
        line = _graphml(run, corpus, out)
    elif target == "parquet":
        line = _parquet(options.chosen_corpus(corpus), out)
    else:
        ranked_by = None if split is None else options.chosen_run(run)
        line = _beir(options.chosen_corpus(corpus), out, ranked_by, split, device)
    click.echo(f"{out}: {line}")


def _refuse_contradictions(name, run, target, out, corpus, split, public) -> None:
    """Raise UsageError if an option does not go with the format."""
    hub = target == "hub"
    contradictions = {
        f"--corpus: {target} exports a run; name one with --run": corpus and target not in OF_CORPORA,
        "--split: only for --to beir; omit it": split is not None and target != "beir",
        "hub: name the repository, as in 'statgraph export --to hub OWNER/NAME', in place of --out": (
            hub and (name is None or out is not None)
        ),
        f"{name or '--public'}: only for --to hub; omit it": not hub and (name is not None or public),
        "--out: missing; name a folder, for graphml a file, that does not exist yet": not hub and out is None,
        "--run: beir uses a run only for its rankings of a split; name the split with --split": (
            target == "beir" and run and split is None
        ),
        "--run: parquet is a format of corpora; name one with --corpus": target == "parquet" and run,
        "--run and --corpus name two different graphs; give only one of them": run and corpus and target == "graphml",
    }
    options.refuse(contradictions)
