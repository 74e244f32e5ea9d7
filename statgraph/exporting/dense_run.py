"""The parts of a run that have vectors: its query encoder and its index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.evaluation.report import Report
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.encoder_outline import MODULES
from statgraph.runs.manifest import read_run_config, read_run_manifest
from statgraph.systems.model_card import model_card, read_run_report


@dataclass(frozen=True)
class DenseRun:
    """A finished run with a query encoder: its manifest, with every setting of this version, and its report on dev,
    None where it has none."""

    folder: Path
    manifest: dict
    report: Report | None

    @classmethod
    def open(cls, folder: Path) -> DenseRun:
        """Return the run in a folder.

        Raises:
            RunError: if it is no finished run, is one of BM25, or has lost its query encoder.
        """
        manifest = read_run_manifest(folder)
        config = read_run_config(folder, manifest)
        if config.retriever == "bm25":
            raise RunError(
                f"{folder}: is a run of BM25, which has neither an encoder nor vectors; export a dense run, "
                "or this one as graphml"
            )
        run = cls(folder, {**manifest, "config": config.to_dict()}, read_run_report(folder))
        if not (run.query_encoder / MODULES).is_file():
            raise RunError(f"{run.query_encoder}: no query encoder ({MODULES} is missing); train the run again")
        return run

    @property
    def query_encoder(self) -> Path:
        """Return the folder of the query encoder."""
        return self.folder / artifacts.RUN_QUERY_ENCODER

    def index(self) -> ArticleIndex:
        """Return the index, for its vectors."""
        return ArticleIndex.load(self.folder / artifacts.RUN_INDEX, device="cpu")

    def card(self, *sections: str, **loaded: str) -> str:
        """Return the model card of the query encoder, with more sections at its end; `loaded` says how where it is not
        by sentence-transformers: `library` and `loading` of `model_card`."""
        card = model_card(self.manifest, self.report, part=artifacts.RUN_QUERY_ENCODER, **loaded)
        return "\n".join([card, *sections])
