"""One training run: what is trained on what, in which folder, with whom, how long its steps take, and which finished
runs it can take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import torch

from statgraph.artifacts import key_of
from statgraph.augmentation.synthetic import GenerationOptions
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.device import pick_device
from statgraph.distributed import current_world
from statgraph.errors import RunError
from statgraph.evaluation.metrics import deciding_metric
from statgraph.memory import peak_memory_mib
from statgraph.progress import Progress, silent
from statgraph.runs import parts
from statgraph.runs.folders import link_run, refuse_full_folder
from statgraph.runs.kind import kind_of
from statgraph.runs.run import Run
from statgraph.training.checkpoints import MetricsLog
from statgraph.training.loop import TrainingContext, chosen_epochs


class StepClock:
    """Collects the steps of a run in order: name, wall time, and the process's highest resident memory by its end."""

    def __init__(self):
        self.steps: list[dict[str, object]] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the block as one step."""
        start = time.perf_counter()
        yield
        seconds = round(time.perf_counter() - start, 2)
        self.steps.append({"name": name, "seconds": seconds, "peak_mib": peak_memory_mib()})


@dataclass
class RunCache:
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


@dataclass(frozen=True)
class TrainingOptions:
    """What may differ between two trainings of the same run.

    `resume`: continue an interrupted run. `stage1_cache`: a folder in which runs of the same first stage keep its
    weights for each other; `run_cache`: in which whole runs of one system are kept for the ensembles whose members they
    are; several processes do without both. `progress` is called as the long steps go on, and after every step of the
    optimiser; `announce` gets a line for each choice that training made. `graph_folder`: where `build-graph` may have
    written the graph.
    `final`: the run whose epochs and trees a run on all questions takes; `keep_test` leaves those of test out of it.
    `teacher`: the ensemble that a student learns from.
    """

    resume: bool = False
    stage1_cache: Path | None = None
    run_cache: RunCache | None = None
    progress: Progress = silent
    graph_folder: Path | None = None
    announce: Callable[[str], None] = lambda line: None
    final: Run | None = None
    keep_test: bool = False
    teacher: Run | None = None


DEFAULT_OPTIONS = TrainingOptions()
TrainRun = Callable[[Corpus, RunConfig, Path, TrainingOptions], Run]


@dataclass(frozen=True)
class Job:
    """A run in training: its corpus, its configuration, its folder, how it is trained, and what trains the runs that it
    is made of (`train_run`)."""

    corpus: Corpus
    config: RunConfig
    folder: Path
    options: TrainingOptions = DEFAULT_OPTIONS
    clock: StepClock = field(default_factory=StepClock)
    train: TrainRun | None = None

    @cached_property
    def device(self) -> torch.device:
        """Return this process's device.

        Raises:
            UsageError: if the device is not there.
        """
        return current_world().device(pick_device(self.config.device))

    @property
    def generation(self) -> GenerationOptions:
        """Return how synthetic questions are generated."""
        return GenerationOptions(self.config.seed, self.device, self.options.progress)

    @cached_property
    def context(self) -> TrainingContext:
        """Return what the stages of this run share."""
        metric, final = deciding_metric(self.config.select_by, len(self.corpus.articles)), self.options.final
        return TrainingContext(
            seed=self.config.seed,
            device=self.device,
            checkpoints=self.folder / parts.CHECKPOINTS,
            log=MetricsLog(self.folder / parts.METRICS),
            resume=self.options.resume,
            progress=self.options.progress,
            metric=metric,
            stops=chosen_epochs(MetricsLog(final.metrics).records(), metric) if final else None,
        )
