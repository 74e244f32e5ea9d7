"""The finished and unfinished runs of all tables, one folder each, shared by every process that makes tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.retrieval.search.evaluating import SplitMetrics

RESULT, TRAINED, FOLLOWED = "result.json", "run", "followed"


class RunBusyError(RunError):
    """A run that another live process works on."""


@dataclass(frozen=True)
class RunResult:
    """A finished run: its metrics, all that is known of how it came about (`about`, JSON values), and the metrics of
    each signal of an ensemble alone."""

    metrics: SplitMetrics
    about: dict
    signals: Mapping[str, SplitMetrics] = field(default_factory=dict)

    def mean(self, metric: str, stratum: str = "all") -> float:
        """Return the mean of a metric over the questions of a stratum, 0 to 1."""
        return float(self.values(metric, stratum).mean())

    def values(self, metric: str, stratum: str = "all") -> np.ndarray:
        """Return a metric of each question of a stratum, (questions,) float64."""
        return self.metrics.metrics[metric][self.metrics.masks[stratum]]

    def to_dict(self) -> dict[str, object]:
        """Return the result as JSON values."""
        signals = {name: alone.to_dict() for name, alone in self.signals.items()}
        return {**self.about, "questions": self.metrics.to_dict(), **({"signals": signals} if signals else {})}

    @classmethod
    def from_dict(cls, saved: Mapping, shared: Mapping | None = None) -> RunResult:
        """Return the result that `to_dict` saved; `shared` are question ids and strata that are not saved with it."""
        shared = shared or {}
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
            raise RunError(f"{path}: damaged ({error}); remove it to run it again") from None

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
