"""The one training loop: epochs of a stage with warm-up, decay, dev selection, checkpoints and resumption."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch

from statgraph.distributed import current_world
from statgraph.errors import RunError, option
from statgraph.evaluation.metrics import QUALITY, choice_key
from statgraph.progress import Progress, TrainingStep, silent
from statgraph.training.checkpoints import (
    MetricsLog,
    load_progress,
    load_steps,
    load_weights,
    save_checkpoint,
)
from statgraph.training.seeding import derived_seed, seed_everything, seed_sampler
from statgraph.training.steps import OptimizerSteps

LAST, BEST = "last", "best"
_Batch = TypeVar("_Batch")


class Stage(Protocol):
    """One stage: its parameters, its batches, its loss and its score on the dev split. `weights_changed` and
    `begin_epoch` do nothing unless a stage has something to do there."""

    name: str
    steps_per_epoch: int
    uses_graph: bool = False

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the optimiser's groups, each with its own `lr`."""

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return what the stage trains, by name."""

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put back what `weights` returned."""

    def weights_changed(self) -> None:
        """Drop what was computed from the weights before; called after every step of the optimiser."""
        return

    def set_training(self, on: bool) -> None:
        """Switch dropout and the like on or off."""

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Prepare an epoch (from 1) of so many, with the current weights."""
        return

    def batches(self, rng: np.random.Generator) -> Iterator[Any]:
        """Yield the batches of one epoch, drawn with `rng`."""

    def loss(self, batch: Any) -> torch.Tensor:
        """Return the loss of one of the stage's own batches, a scalar with gradients."""

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the metrics on the dev split with the current weights; None where the corpus has no dev questions."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast a stage trains. `warmup` is a share of all steps; `patience` counts epochs, 0 for none.
    `decay` of the rates after the warm-up: linear or constant. `clip`: the longest gradient over all parameters; 0 for
    any length."""

    epochs: int
    warmup: float
    weight_decay: float
    patience: int
    decay: str = "linear"
    clip: float = 0.0


@dataclass(frozen=True)
class TrainingContext:
    """What the stages of one run share.

    Attributes:
        seed: the run's; every epoch draws from a seed made of (seed, stage, epoch).
        device: where the stages compute.
        checkpoints: a folder with a folder for each stage.
        log: one line for each epoch.
        resume: whether to continue from the checkpoints.
        progress: called after every step.
        metric: the mean on dev that decides which epoch is best; the last one is where dev has none of that name.
        stops: by stage, the epoch after which to stop as if it were the best, on the schedule of all, without a look at
            dev; None to train all and choose.
    """

    seed: int
    device: torch.device
    checkpoints: Path
    log: MetricsLog
    resume: bool = False
    progress: Progress = silent
    metric: str = QUALITY
    stops: Mapping[str, int] | None = None


def train_stage(stage: Stage, schedule: Schedule, context: TrainingContext) -> dict[str, object]:
    """Train a stage, leave in it the weights of the best epoch by dev's `choice_key`, and return its log record.

    Of several processes (`current_world`) the first alone writes, and its record of an epoch decides for all.

    The untrained stage counts as epoch 0, so training never makes it worse on dev. Every epoch ends with a checkpoint:
    with `resume`, a killed run continues after its last whole epoch and ends with the same numbers.

    Raises:
        RunError: if a loss is not finite, a checkpoint is damaged, or `stops` lacks the stage.
    """
    return _StageTrainer(stage, schedule, context).run()


class _StageTrainer:
    def __init__(self, stage: Stage, schedule: Schedule, context: TrainingContext):
        self._stage = stage
        self._schedule = schedule
        self._context = context
        self._folder = context.checkpoints / stage.name
        groups = [{**group, "base_lr": group["lr"]} for group in stage.parameter_groups()]
        optimizer = torch.optim.AdamW(
            groups, betas=(0.9, 0.999), eps=1e-7, weight_decay=schedule.weight_decay, fused=True
        )
        self._parameters = [parameter for group in groups for parameter in group["params"]]
        self._steps = OptimizerSteps(optimizer, self._parameters, context.device, clip=schedule.clip)

    def run(self) -> dict[str, object]:
        stage, schedule, world, metric = self._stage, self._schedule, current_world(), self._context.metric
        last, best = self._begun()
        loss_of = world.data_parallel(stage.loss, self._parameters)
        for epoch in range(last["epoch"] + 1, self._last_epoch() + 1):
            if schedule.patience and epoch - 1 - best["epoch"] >= schedule.patience:
                break
            start = time.perf_counter()
            losses = self._epoch(epoch, loss_of, dev=last.get(metric))
            seconds = time.perf_counter() - start
            last = self._record(epoch, loss=sum(losses) / len(losses), seconds=seconds)
            is_best = _is_better(last, best, metric)
            if is_best:
                best = last
            if world.is_first:
                self._context.log.append(**last, step_losses=[round(loss, 6) for loss in losses])
                if is_best:
                    save_checkpoint(self._folder / BEST, stage.weights(), best)
                save_checkpoint(self._folder / LAST, stage.weights(), last, self._steps)
        stage.load_weights(load_weights(self._folder / BEST))
        stage.set_training(False)
        return best

    def _last_epoch(self) -> int:
        """Return the epoch to stop after."""
        stops, name = self._context.stops, self._stage.name
        if stops is None:
            return self._schedule.epochs
        if name not in stops:
            raise RunError(f"{name}: the run to go by has no record of its epochs; train that run again")
        return stops[name]

    def _begun(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the records of the last and the best epoch so far: those of epoch 0 where nothing can be resumed."""
        stage, world, log = self._stage, current_world(), self._context.log
        last = load_progress(self._folder / LAST) if self._context.resume else None
        best = load_progress(self._folder / BEST) if last else None
        if last is not None and best is not None:
            stage.load_weights(load_weights(self._folder / LAST))
            load_steps(self._folder / LAST, self._steps)
            if world.is_first:
                log.take_back(stage.name, last["epoch"])
            return last, best
        if world.is_first:
            shutil.rmtree(self._folder, ignore_errors=True)
        best = self._record(0, loss=None, seconds=0.0)
        if world.is_first:
            log.take_back(stage.name, -1)
            log.append(**best)
            save_checkpoint(self._folder / BEST, stage.weights(), best)
        return best, best

    def _epoch(self, epoch: int, loss_of: Callable[[object], torch.Tensor], dev: float | None) -> list[float]:
        """Return the loss of each step."""
        stage, epochs = self._stage, self._schedule.epochs
        seed = derived_seed(self._context.seed, stage.name, epoch)
        rng = seed_everything(seed, with_graph=stage.uses_graph, rank=current_world().rank)
        steps, before = epochs * stage.steps_per_epoch, (epoch - 1) * stage.steps_per_epoch
        end = steps if self._schedule.decay == "linear" else None
        losses = []
        stage.begin_epoch(epoch, epochs)
        stage.set_training(True)
        batches = stage.batches(rng)
        if self._context.device.type == "cuda":  # a CPU has no time left beside the steps
            rank = current_world().rank
            batches = ahead(batches, partial(seed_sampler, seed, rank=rank) if stage.uses_graph else None)
        for step, batch in enumerate(batches, start=before + 1):
            for group in self._steps.optimizer.param_groups:
                group["lr"] = group["base_lr"] * rate_share(step, steps, self._schedule.warmup, end=end)
            losses.append(self._steps.take(partial(loss_of, batch)))
            stage.weights_changed()
            if not math.isfinite(losses[-1]):
                raise RunError(
                    f"{stage.name}, epoch {epoch}, step {step}: the loss is {losses[-1]}; lower the learning rate "
                    f"({option('set')} {stage.name}.lr=...)"
                )
            metric = self._context.metric
            self._context.progress(TrainingStep(stage.name, step, steps, epoch, epochs, losses[-1], dev, metric))
        return losses

    def _record(self, epoch: int, *, loss: float | None, seconds: float) -> dict[str, object]:
        self._stage.set_training(False)
        metrics = (self._stage.dev_metrics() if self._context.stops is None else None) or {}
        facts = {"stage": self._stage.name, "epoch": epoch, "loss": loss, "seconds": round(seconds, 2)}
        record: dict[str, object] = {**facts, **metrics}
        return current_world().json_from_first(lambda: record)


def ahead(batches: Iterator[_Batch], begin: Callable[[], None] | None = None) -> Iterator[_Batch]:
    """Yield batches that a thread makes, each while the one before it is in use; `begin` is called there first."""
    thread = _making_batches()
    if begin is not None:
        thread.submit(begin).result()
    coming = thread.submit(next, batches, None)
    try:
        while (batch := coming.result()) is not None:
            coming = thread.submit(next, batches, None)
            yield batch
    finally:
        wait([coming])


@cache
def _making_batches() -> ThreadPoolExecutor:
    """Return the thread that makes batches, the same for all stages and runs: of equal seeds DGL draws equal numbers in
    the same thread, and others in another one."""
    return ThreadPoolExecutor(1)


os.register_at_fork(after_in_child=_making_batches.cache_clear)


def chosen_epochs(records: Iterable[Mapping[str, Any]], metric: str) -> dict[str, int]:
    """Return by stage the epoch whose weights a run kept, from the records of its log and the metric it chose by."""
    best: dict[str, Mapping[str, Any]] = {}
    for record in records:
        known = best.get(record["stage"])
        if known is None or _is_better(record, known, metric):
            best[record["stage"]] = record
    return {stage: record["epoch"] for stage, record in best.items()}


def _is_better(record: Mapping[str, Any], best: Mapping[str, Any], metric: str) -> bool:
    """Return whether an epoch's weights take the place of the best ones so far: without dev questions, always."""
    return metric not in record or choice_key(record, metric) > choice_key(best, metric)


def rate_share(step: int, steps: int, warmup: float, *, end: int | None) -> float:
    """Return the share of the base rate at a step (from 1): a linear rise over the warm-up, a share of the steps, then
    a linear fall to 0, which is reached at the step `end`; None never falls."""
    rise = max(1, round(warmup * steps))
    if step <= rise:
        return step / rise
    return 1.0 if end is None else (end - step) / max(1, end - rise)
