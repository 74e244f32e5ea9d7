"""What a measure may need to know: where the corpus and a run are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.rows import Row
from statgraph.errors import RunError
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus
from statgraph.runs.folders import newest_run
from statgraph.runs.provenance import commit
from statgraph.runs.run import RunFolder


@dataclass(frozen=True)
class Settings:
    """Where the data of a measure is.

    Attributes:
        corpus: a corpus folder; the embedded sample if none is named.
        run: a run folder trained on it; None for the newest.
        quick: whether to measure just enough to show that it works: nothing to report.
        any_commit: whether to accept a run that another commit trained; its rows are marked.
    """

    corpus: Path
    run: Path | None = None
    quick: bool = False
    any_commit: bool = False

    def corpus_and_run(self) -> tuple[Corpus, Path]:
        """Return the corpus and the folder of the run to measure.

        Raises:
            RunError: if there is no such run, or it was trained on another corpus or, unless `any_commit`, by another
                commit.
        """
        corpus = read_corpus(self.corpus)
        run = self.run or newest_run()
        opened = RunFolder.read(run)
        opened.check_corpus(corpus)
        if not self.any_commit and commit_of(opened) != commit():
            raise RunError(
                f"{run}: trained by {commit_of(opened)}, not by the present commit {commit()}; train it again with "
                f"'statgraph train --corpus {self.corpus} --system {opened.config.system} --out DIR', or add "
                "--any-commit"
            )
        return corpus, run

    def marked(self, rows: list[Row]) -> list[Row]:
        """Return the rows of a run, with a note if another commit trained it."""
        trained_by = commit_of(RunFolder.read(self.run or newest_run()))
        if trained_by == commit():
            return rows
        return [replace(row, note=f"The run was trained by {trained_by}. {row.note}".strip()) for row in rows]


def commit_of(run: RunFolder) -> str:
    """Return the commit that trained a run."""
    return run.commit or "an unknown commit"
