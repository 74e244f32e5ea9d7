"""The runs of a table: a configuration for each row and seed, trained or resumed, and measured."""

from __future__ import annotations

import gc
import os
import platform
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import UsageError
from statgraph.runs.folders import is_finished
from statgraph.runs.provenance import commit, published
from statgraph.runs.run import Run
from statgraph.search.evaluating import split_metrics
from statgraph.search.retriever import Retriever
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult, RunStore
from statgraph.systems.job import DEFAULT_OPTIONS, TrainingOptions
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import regime_of, resolve_config
from statgraph.training.checkpoints import MetricsLog

ID_DIGITS = 16


@dataclass(frozen=True)
class PlannedRun:
    """A row's run with one seed. `settings`, seed aside, are what `statgraph train` needs on top of the system."""

    row: str
    seed: int
    config: RunConfig
    settings: tuple[str, ...]

    def train_command(self, corpus_folder: str) -> str:
        """Return the command that makes the same run, with publishable paths; a blank folder stands for the sample."""
        words = ["statgraph", "train", *(("--corpus", corpus_folder) if corpus_folder else ())]
        words += ["--system", self.config.system, "--seed", str(self.seed)]
        for setting in self.settings:
            words += ["--set", published(setting)]
        return shlex.join(words)


def planned_runs(
    spec: TableSpec, *, seeds: int, backbone: str = "", settings: Sequence[str] = (), only: Sequence[str] = ()
) -> list[PlannedRun]:
    """Return the runs of a table, seed by seed, so that a table that is cut short has all of its rows.

    Args:
        seeds: how many; a row without anything random is run with seed 0 alone.
        backbone: of every dense row that does not have its own; blank for what the machine decides.
        settings: `a.b=c`, on top of those of every row.
        only: names of rows; none for all.

    Raises:
        UsageError: for an unknown row, or a setting that cannot be.
    """
    names = [row.name for row in spec.rows]
    for name in only:
        if name not in names:
            listed = ", ".join(f"'{known}'" for known in names) or "none"
            raise UsageError(f"--only '{name}': is not a row of {spec.name}; its rows are {listed}")
    return [
        _planned(row, seed, backbone, settings)
        for seed in range(seeds)
        for row in spec.rows
        if (not only or row.name in only) and (row.seeded or seed == 0)
    ]


def run_id(config: RunConfig, corpus_hash: str, split: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of all that decides a result: rows of several tables with the same
    configuration share one run."""
    decided_by = {"config": config.to_dict(), "corpus_hash": corpus_hash, "split": split}
    return artifacts.key_of(decided_by, ID_DIGITS)


@dataclass(frozen=True)
class CorpusRuns:
    """The runs on one corpus, measured on one of its splits and kept in a store.

    `corpus_folder`: as a command names it, blank for the embedded sample. `keep`: keep what was trained, too.
    """

    corpus: Corpus
    split: str
    store: RunStore
    corpus_folder: str = ""
    keep: bool = False

    def result(self, planned: PlannedRun) -> RunResult | None:
        """Return the result of a run, or None where it is not finished.

        Raises:
            RunError: if the result is damaged.
        """
        return self.store.result(self._id(planned))

    def finished(self, planned: PlannedRun, options: TrainingOptions = DEFAULT_OPTIONS) -> RunResult:
        """Return the result of a run, training what is missing of it.

        Raises:
            RunBusyError: if another process works on it.
            StatgraphError: if the run cannot be trained.
        """
        name = self._id(planned)
        with self.store.claimed(name):
            found = self.store.result(name)
            if found is not None:
                return found
            folder = self.store.trained_folder(name)
            resumed = (folder / artifacts.RUN_CONFIG).is_file()
            start = time.perf_counter()
            _forget_peak_memory()
            if not is_finished(folder):
                options = replace(options, resume=resumed, stage1_cache=self.store.stage1_cache)
                train_run(self.corpus, planned.config, folder, options)
            metrics = split_metrics(Retriever.load(folder, device=planned.config.device), self.corpus, self.split)
            result = RunResult(metrics, self._about(planned, folder, resumed, time.perf_counter() - start))
            self.store.finish(name, result, keep_run=self.keep)
            return result

    def _id(self, planned: PlannedRun) -> str:
        return run_id(planned.config, self.corpus.content_hash, self.split)

    def _about(self, planned: PlannedRun, folder: Path, resumed: bool, seconds: float) -> dict[str, object]:
        run = Run.read(folder)
        return {
            "config": artifacts.as_json(run.config.to_dict()),
            "seed": planned.seed,
            "corpus": asdict(run.corpus),
            "split": self.split,
            "commit": commit(),
            "versions": run.versions,
            "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            "machine": machine(planned.config.device),
            "command": planned.train_command(self.corpus_folder),
            "resumed": resumed,
            "seconds": round(seconds, 1),
            "steps": list(run.steps),
            "learning_curve": MetricsLog(folder / artifacts.RUN_METRICS).records(),
        }


def machine(device: str) -> str:
    """Return what a run is computed on, in one line."""
    import torch

    from statgraph.device import pick_device

    model = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gpu = f", {torch.cuda.get_device_name()}" if pick_device(device).type == "cuda" else ", no GPU"
    return f"{model}, {cores} cores{gpu}, {platform.system()}, Python {platform.python_version()}"


def _planned(row: RowSpec, seed: int, backbone: str, settings: Sequence[str]) -> PlannedRun:
    own = list(row.settings)
    chosen = row.backbone or backbone
    # Without its settings, which may fit no backbone but the chosen one.
    if chosen and resolve_config(row.system).has_vectors:
        own.insert(0, f"encoder.backbone={chosen}")
    regime = regime_of(resolve_config(row.system, (*own, *settings)).encoder)
    own += [*row.regimes.get(regime, ()), *settings]
    return PlannedRun(row.name, seed, resolve_config(row.system, (*own, f"seed={seed}")), tuple(own))


def _forget_peak_memory() -> None:
    """Reset the peak of resident memory, so that a run is not charged with the one before. Elsewhere than on
    Linux the figure is that of the whole process."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
