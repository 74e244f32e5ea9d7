"""The runs of all tables, shared by every process that makes tables: one folder each, and the finished members of
ensembles, which rows share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.errors import RunError, marked
from statgraph.evaluation.metrics import QuestionMetrics
from statgraph.law.records import Corpus
from statgraph.retrieval.search.evaluating import SplitMetrics
from statgraph.runs.folders import link_run, refuse_full_folder
from statgraph.runs.kind import kind_of
from statgraph.runs.run import RunFolder

RESULT, TRAINED, FOLLOWED = "result.json", "run", "followed"
NOTHING_SHARED: Mapping[str, object] = {}


class RunBusyError(RunError):
    """A run that another live process works on."""


@dataclass(frozen=True)
class RunResult:
    """A finished run: its metrics, all that is known of how it came about (`about`, JSON values), and the metrics of
    each signal of an ensemble alone."""

    metrics: SplitMetrics
    about: dict[str, Any]
    signals: Mapping[str, SplitMetrics] = field(default_factory=dict)

    def mean(self, metric: str, stratum: str = "all") -> float:
        """Return the mean of a metric over the questions of a stratum, 0 to 1."""
        return float(self.values(metric, stratum).mean())

    def values(self, metric: str, stratum: str = "all") -> np.ndarray:
        """Return a metric of each question of a stratum, (questions,) float64."""
        return self.of(stratum)[metric]

    def of(self, stratum: str) -> QuestionMetrics:
        """Return the metrics of the questions of a stratum."""
        return self.metrics.metrics.where(self.metrics.masks[stratum])

    def to_dict(self, shared: Mapping[str, Any] = NOTHING_SHARED) -> dict[str, object]:
        """Return the result as JSON values; question ids and strata that equal those `shared` are left out."""

        def own(metrics: SplitMetrics) -> dict[str, object]:
            return {key: value for key, value in metrics.to_dict().items() if shared.get(key) != value}

        signals = {name: own(alone) for name, alone in self.signals.items()}
        return {**self.about, "questions": own(self.metrics), **({"signals": signals} if signals else {})}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any], shared: Mapping[str, Any] = NOTHING_SHARED) -> RunResult:
        """Return the result that `to_dict` saved."""
        about = {key: value for key, value in saved.items() if key not in ("questions", "signals")}
        signals = {
            name: SplitMetrics.from_dict({**shared, **alone}) for name, alone in saved.get("signals", {}).items()
        }
        return cls(SplitMetrics.from_dict({**shared, **saved["questions"]}), about, signals)


class RunStore:
    """The runs under WORK/runs: `<id>/result.json` of a finished one, `<id>/run` of one in training, `<id>/followed` of
    the one whose number of epochs a retrained run takes over."""

    def __init__(self, work: Path):
        self.stage1_cache = Path(work) / "stage1"
        self.run_cache = Path(work) / "members"
        self.grids = Path(work) / "grids"
        self._runs = Path(work) / "runs"

    def trained_folder(self, run_id: str) -> Path:
        """Return where a run is trained."""
        return self._runs / run_id / TRAINED

    def result(self, run_id: str) -> RunResult | None:
        """Return the result of a run, or None where it is not finished.

        Raises:
            RunError: if the result is damaged.
        """
        path = self._runs / run_id / RESULT
        if not path.is_file():
            return None
        try:
            return RunResult.from_dict(artifacts.read_json(path))
        except (ValueError, KeyError, TypeError, AttributeError, RunError) as error:
            raise RunError(f"{path}: damaged ({marked(error)}); remove it to run it again") from None

    def finish(self, run_id: str, result: RunResult, *, keep_run: bool) -> None:
        """Write the result of a run, then remove its trained folders unless `keep_run`."""
        artifacts.write_json(self._runs / run_id / RESULT, result.to_dict())
        if not keep_run:
            for trained in (TRAINED, FOLLOWED):
                shutil.rmtree(self._runs / run_id / trained, ignore_errors=True)

    @contextmanager
    def claimed(self, run_id: str) -> Iterator[None]:
        """Hold a run for this process while the block runs; the lock ends with the process, however that ends.

        Raises:
            RunBusyError: if another process holds it.
        """
        with artifacts.held_folder(self._runs / run_id) as free:
            if not free:
                raise RunBusyError("another process works on it")
            yield


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

    def take(self, corpus: Corpus, config: RunConfig, folder: Path) -> RunFolder | None:
        """Return the run that was kept, now in `folder` too; None where there is none that can be read.

        Raises:
            RunError: if `folder` is not empty.
        """
        kept = self._place(corpus, config)
        try:
            run = RunFolder.read(kept)
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

    def keep(self, corpus: Corpus, run: RunFolder) -> None:
        """Keep a finished run of this corpus, if any are kept."""
        if self.keeps:
            link_run(run.folder, self._place(corpus, run.config))

    def _place(self, corpus: Corpus, config: RunConfig) -> Path:
        used = kind_of(config).settings
        settings = config.to_dict().items()
        values = {name: value for name, value in settings if name in used or not isinstance(value, dict)}
        return self.folder / artifacts.key_of({"config": values, "corpus": corpus.content_hash})
