"""The finished runs that the rows of a table share: the members of its ensembles."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from statgraph.artifacts import key_of
from statgraph.config import RunConfig
from statgraph.errors import RunError
from statgraph.law.records import Corpus
from statgraph.runs.folders import link_run, refuse_full_folder
from statgraph.runs.kind import kind_of
from statgraph.runs.run import Run


@dataclass
class KeptRuns:
    """Finished runs under a folder, each in one named by its configuration and the content of its corpus.

    Attributes:
        folder: of all runs; nothing is ever removed from it.
        keeps: whether what is trained is kept, or only what is there already is taken. A run takes some 200 MB.
        taken: what was taken since this object was made: each run's name, the seconds and the highest memory (MiB) that
            its training took, and the commit that it was trained at.
    """

    folder: Path
    keeps: bool = True
    taken: list[dict[str, object]] = field(default_factory=list)

    def take(self, corpus: Corpus, config: RunConfig, folder: Path) -> Run | None:
        """Return the run that was kept, now in `folder` too; None where there is none that can be read.

        Raises:
            RunError: if `folder` is not empty.
        """
        kept = self._place(corpus, config)
        try:
            run = Run.read(kept)
        except RunError:
            return None
        refuse_full_folder(folder)
        link_run(kept, folder)
        self.taken.append(
            {
                "name": f"{config.system}@{config.encoder.backbone}",
                "seconds": round(sum(step["seconds"] for step in run.steps), 1),
                "peak_mib": max((step["peak_mib"] for step in run.steps), default=0),
                "commit": run.commit,
            }
        )
        return replace(run, folder=folder)

    def keep(self, corpus: Corpus, run: Run) -> None:
        """Keep a finished run of this corpus, if any are kept."""
        if self.keeps:
            link_run(run.folder, self._place(corpus, run.config))

    def _place(self, corpus: Corpus, config: RunConfig) -> Path:
        used = kind_of(config).settings
        settings = config.to_dict().items()
        values = {name: value for name, value in settings if name in used or not isinstance(value, dict)}
        return self.folder / key_of({"config": values, "corpus": corpus.content_hash})
