"""The formats that a run or a corpus is exported in, by name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from statgraph import artifacts
from statgraph.encoders.backbones import MODULES
from statgraph.errors import UsageError, damaged_run, option, unknown_name
from statgraph.law.records import Corpus
from statgraph.registry import load
from statgraph.runs.hub import local_run
from statgraph.runs.run import RunFolder

BEIR, GRAPHML, HUB = "beir", "graphml", "hub"
# Each is a function (run or corpus, folder to write into; of graphml a file) -> what is there, in words.
OF_RUNS = {
    "folder": "statgraph.contrib.exports.run_copies:write_copy",
    "sentence-transformers": "statgraph.contrib.exports.vector_folders:write_encoder_and_articles",
    "onnx": "statgraph.contrib.exports.onnx_folder:write_onnx_folder",
    "faiss": "statgraph.contrib.exports.vector_folders:write_faiss_index",
}
OF_CORPORA = {
    BEIR: "statgraph.contrib.exports.corpus_folder:write_beir",
    "csv": "statgraph.contrib.exports.corpus_folder:write_csv_tables",
    "parquet": "statgraph.contrib.exports.corpus_folder:write_parquet_tables",
    GRAPHML: "statgraph.contrib.exports.graphml_file:write_graphml",
}
_NEED_VECTORS = ("sentence-transformers", "onnx", "faiss")


class Exported(NamedTuple):
    """Where something was exported to, and what is there, in words."""

    place: str
    about: str


def export(
    source: object,
    target: str,
    out: Path | str,
    *,
    ranked_by: object = None,
    split: str | None = None,
    public: bool = False,
    device: str = "auto",
) -> Exported:
    """Write a run or a corpus in a format that other tools read; return where it is.

        export("runs/mine", "onnx", "encoders/mine").about

    Args:
        source: a run, its folder, or a corpus.
        target: of a run `sentence-transformers`, `onnx`, `faiss`, `hub`; of a corpus `beir`, `csv`, `parquet`;
            `graphml` of either.
        out: the folder to write, for graphml the file; it must not exist yet. For hub the repository, OWNER/NAME.
        ranked_by: for beir, a run whose rankings of `split` are written too.
        split: for beir, train, dev or test.
        public: for hub, whether everyone can read a repository that is made.
        device: auto, cpu or cuda.

    Raises:
        UsageError: if there is no such format, it is not one of the source, or `out` exists.
        RunError, ModelError: if the run is damaged, or has nothing of the kind.
        DependencyError: if a package that the format needs is not installed.
    """
    if target not in (*OF_RUNS, *OF_CORPORA, HUB):
        raise unknown_name("format", target, (*OF_RUNS, *OF_CORPORA, HUB))
    is_corpus = isinstance(source, Corpus)
    if target != GRAPHML and is_corpus != (target in OF_CORPORA):
        raise UsageError(f"source: {target} is a format of {'runs' if is_corpus else 'corpora'}; give one of those")
    if target == HUB:
        from statgraph.contrib.exports.run_copies import push_run

        run = local_run(source)
        return Exported(str(push_run(run, str(out), public=public)), f"the run {run}")
    out = Path(out)
    if out.exists() or out.is_symlink():  # even a broken link
        raise UsageError(f"{out}: exists already, and an export replaces nothing; choose another {option('out')}")
    what = source if is_corpus else _opened(local_run(source), with_vectors=target in _NEED_VECTORS)
    options = {}
    if target == BEIR and ranked_by is not None:
        options = {"run": RunFolder.read(local_run(ranked_by)), "split": split, "device": device}
    write = load({**OF_RUNS, **OF_CORPORA}[target])
    replaced = artifacts.replaced_file if target == GRAPHML else artifacts.replaced_folder
    with replaced(out) as staging:
        about = write(what, staging, **options)
    return Exported(str(out), about)


def _opened(folder: Path, *, with_vectors: bool) -> RunFolder:
    """Return the finished run in a folder.

    Raises:
        RunError: if there is none, or it lacks the vectors or the query encoder that are needed.
    """
    run = RunFolder.read(folder)
    if with_vectors:
        run.require_vectors("export a run of another system, or this one as graphml")
        if not (run.query_encoder / MODULES).is_file():
            raise damaged_run(f"{run.query_encoder}: no query encoder ({MODULES} is missing)")
    return run
