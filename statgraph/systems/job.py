"""One training run: what is trained on what, in which folder, with whom, and how long its steps take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

import torch

from statgraph.augmentation.synthetic import GenerationOptions
from statgraph.config import LAST, RunConfig
from statgraph.device import peak_memory_mib, pick_device
from statgraph.distributed import World, current_world
from statgraph.evaluation.metrics import deciding_metric
from statgraph.law.records import Corpus
from statgraph.progress import Progress, silent
from statgraph.runs import parts
from statgraph.runs.run import RunFolder
from statgraph.training.checkpoints import MetricsLog
from statgraph.training.loop import TrainingContext, chosen_epochs


class StepClock:
    """Collects the steps of a run in order: name, wall time, and the process's highest resident memory by its end."""

    def __init__(self) -> None:
        self.steps: list[dict[str, object]] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the block as one step."""
        start = time.perf_counter()
        yield
        seconds = round(time.perf_counter() - start, 2)
        self.steps.append({"name": name, "seconds": seconds, "peak_mib": peak_memory_mib()})


class RunCache(Protocol):
    """Finished runs that others of the same configuration and corpus take."""

    def take(self, corpus: Corpus, config: RunConfig, folder: Path) -> RunFolder | None:
        """Return the run that was kept, now in `folder` too; None where there is none."""

    def keep(self, corpus: Corpus, run: RunFolder) -> None:
        """Keep a finished run of this corpus."""


@dataclass(frozen=True)
class TrainingOptions:
    """What may differ between two trainings of the same run.

    `resume`: continue an interrupted run. `stage1_cache`: a folder in which runs of the same first stage keep its
    weights for each other; `run_cache`: in which whole runs of one system are kept for the ensembles whose members they
    are; several processes do without both. `progress` is called as the long steps go on, and after every step of the
    optimiser; `announce` gets a line for each choice that training made. `graph_folder`: where `build-graph` may have
    written the graph.
    `final`: the run whose epochs and weights a run on all questions takes; `keep_test` leaves those of test out of it.
    `teacher`: the ensemble that a student learns from.
    `measured`: whether the run gets a report on dev; a member of an ensemble does not, which is measured as a whole.
    """

    resume: bool = False
    stage1_cache: Path | None = None
    run_cache: RunCache | None = None
    progress: Progress = silent
    graph_folder: Path | None = None
    announce: Callable[[str], None] = lambda line: None
    final: RunFolder | None = None
    keep_test: bool = False
    teacher: RunFolder | None = None
    measured: bool = True


DEFAULT_OPTIONS = TrainingOptions()


@dataclass(frozen=True)
class Job:
    """A run in training: its corpus, its configuration, its folder, how it is trained, and this process's place among
    those that train it."""

    corpus: Corpus
    config: RunConfig
    folder: Path
    options: TrainingOptions = DEFAULT_OPTIONS
    clock: StepClock = field(default_factory=StepClock)
    world: World = field(default_factory=current_world)

    @cached_property
    def device(self) -> torch.device:
        """Return this process's device; UsageError if the device is not there."""
        return self.world.device(pick_device(self.config.device))

    @property
    def generation(self) -> GenerationOptions:
        """Return how synthetic questions are generated."""
        return GenerationOptions(self.config.seed, self.device, self.options.progress)

    @cached_property
    def context(self) -> TrainingContext:
        """Return what the stages of this run share."""
        select_by = self.config.select_by
        metric = select_by if select_by == LAST else deciding_metric(select_by, len(self.corpus.articles))
        followed = self.options.final
        return TrainingContext(
            seed=self.config.seed,
            device=self.device,
            checkpoints=self.folder / parts.CHECKPOINTS,
            log=MetricsLog(self.folder / parts.METRICS),
            resume=self.options.resume,
            progress=self.options.progress,
            metric=metric,
            stops=chosen_epochs(MetricsLog(followed.metrics).records(), metric) if followed else None,
        )
