"""The formats that a run or a corpus is exported in, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from statgraph.errors import UsageError, unknown_name
from statgraph.law.records import SPLITS, Corpus
from statgraph.runs.hub import local_run


class Exported(NamedTuple):
    """Where something was exported to, and what is there, in words."""

    place: str
    about: str


# Each writes a run folder, or a corpus, to a place, and returns what is there.
def _encoder(run: Path, out: Path) -> str:
    from statgraph.contrib.exports.encoder_folder import export_encoder_folder

    export_encoder_folder(run, out)
    return f"the query encoder and article vectors of {run}"


def _folder(run: Path, out: Path) -> str:
    from statgraph.contrib.exports.run_folder import export_run_folder

    return f"what {run} needs to answer ({export_run_folder(run, out) / 1e6:,.1f} MB)"


def _onnx(run: Path, out: Path) -> str:
    from statgraph.contrib.exports.onnx_folder import export_onnx

    return f"the query encoder of {run}; vectors differ from torch's by at most {export_onnx(run, out):.1e}"


def _faiss(run: Path, out: Path) -> str:
    from statgraph.contrib.exports.faiss_folder import export_faiss

    return f"the index of {run} ({export_faiss(run, out)})"


def _parquet(corpus: Corpus, out: Path) -> str:
    from statgraph.contrib.exports.corpus_folder import export_parquet

    export_parquet(corpus, out)
    return f"{len(corpus.articles):,} articles and {len(corpus.questions):,} questions of {corpus.name}"


def _graphml(source: Path | Corpus, out: Path) -> str:
    from statgraph.contrib.exports.graphml_file import export_corpus_graphml, export_run_graphml

    write = export_corpus_graphml if isinstance(source, Corpus) else export_run_graphml
    nodes, edges = write(source, out)
    return f"{nodes:,} nodes and {edges:,} edges"


BEIR, GRAPHML, HUB = "beir", "graphml", "hub"
OF_RUNS, OF_CORPORA = ("folder", "sentence-transformers", "onnx", "faiss"), (BEIR, "parquet", GRAPHML)
_WRITERS: Mapping[str, Callable[[Any, Path], str]] = {
    "folder": _folder,
    "sentence-transformers": _encoder,
    "onnx": _onnx,
    "faiss": _faiss,
    "parquet": _parquet,
    GRAPHML: _graphml,
}


def export(
    source: object, target: str, out: Path | str, *, ranked_by: object, split: str | None, public: bool, device: str
) -> Exported:
    """Write a run or a corpus in a format that other tools read; return where it is: `statgraph.export`."""
    if target not in (*OF_RUNS, *OF_CORPORA, HUB):
        raise unknown_name("format", target, (*OF_RUNS, *OF_CORPORA, HUB))
    of_corpus = isinstance(source, Corpus)
    if target != GRAPHML and of_corpus != (target in OF_CORPORA):
        raise UsageError(f"source: {target} is a format of {'runs' if of_corpus else 'corpora'}; give one of those")
    what = source if of_corpus else local_run(source)
    if target == HUB:
        from statgraph.contrib.exports.hub_repository import push_run

        return Exported(str(push_run(what, str(out), public=public)), f"the run {what}")
    if target == BEIR:
        return Exported(str(out), _beir(what, Path(out), ranked_by, split, device))
    return Exported(str(out), _WRITERS[target](what, Path(out)))


def _beir(corpus: Corpus, out: Path, run: object, split: str | None, device: str) -> str:
    from statgraph.contrib.exports.corpus_folder import export_beir

    ranked_by = None if run is None else local_run(run)
    export_beir(corpus, out, run=ranked_by, split=split, device=device)
    ranked = f", and the rankings of {ranked_by} for {split}" if ranked_by else ""
    n_questions = sum(len(corpus.split(split)) for split in SPLITS)
    return f"{len(corpus.articles):,} articles and {n_questions:,} questions of {corpus.name}{ranked}"
