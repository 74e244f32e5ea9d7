"""The parts of a run that have vectors: its query encoder and its index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.evaluation.report import Report
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.encoder_outline import MODULES
from statgraph.runs.run import Run
from statgraph.systems.model_card import model_card, read_run_report


@dataclass(frozen=True)
class DenseRun:
    """A finished run with a query encoder, and its report on dev, None where it has none."""

    run: Run
    report: Report | None

    @classmethod
    def open(cls, folder: Path) -> DenseRun:
        """Return the run in a folder.

        Raises:
            RunError: if it is not a finished run, ranks by BM25, or has lost its query encoder.
        """
        run = Run.read(folder)
        run.require_vectors("export a run of another system, or this one as graphml")
        if not (run.query_encoder / MODULES).is_file():
            raise RunError(f"{run.query_encoder}: no query encoder ({MODULES} is missing); train the run again")
        return cls(run, read_run_report(folder))

    @property
    def query_encoder(self) -> Path:
        """Return the folder of the query encoder."""
        return self.run.query_encoder

    def index(self) -> ArticleIndex:
        """Return the index, for its vectors."""
        return ArticleIndex.load(self.run.index, device="cpu")

    def card(self, *sections: str, **loaded: str) -> str:
        """Return the model card of the query encoder, with more sections at its end; `loaded` says how where it is not
        by sentence-transformers: `library` and `loading` of `model_card`."""
        card = model_card(self.run, self.report, part=artifacts.RUN_QUERY_ENCODER, **loaded)
        return "\n".join([card, *sections])
