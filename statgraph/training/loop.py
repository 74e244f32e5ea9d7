"""The one training loop: epochs of a stage with warm-up, decay, dev selection, checkpoints and resumption."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from statgraph.distributed import SINGLE, World
from statgraph.errors import RunError
from statgraph.training.checkpoints import (
    load_optimizer,
    load_progress,
    load_weights,
    save_checkpoint,
)
from statgraph.training.metrics_log import MetricsLog
from statgraph.training.seeding import derived_seed, reproducible_sums, seed_everything
from statgraph.training.stage import Schedule, Stage

SELECTION_METRIC = "R@200"
# Decides between equals: of 200 articles or fewer every epoch finds all.
TIE_BREAKER = "mAP"
LAST, BEST = "last", "best"


@dataclass(frozen=True)
class TrainingProgress:
    """What a listener is told after every step. `dev` is the last dev R@200, or None."""

    stage: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    dev: float | None


Listener = Callable[[TrainingProgress], None]


def train_stage(
    stage: Stage,
    schedule: Schedule,
    *,
    seed: int,
    device: torch.device,
    folder: Path,
    log: MetricsLog,
    resume: bool = False,
    listener: Listener = lambda progress: None,
    world: World = SINGLE,
) -> dict[str, object]:
    """Train a stage and leave in it the weights of its best epoch by dev R@200, where that is equal by dev mAP; return
    that epoch's log record.

    The stage as it came counts as epoch 0, so training never makes it worse on dev. Every epoch draws from a seed made
    of (seed, stage, epoch) and ends with a checkpoint under `folder`: with `resume`, a killed run goes on after its
    last whole epoch and ends with the same numbers. Of several processes the first alone writes, and its record of
    an epoch decides for all.

    Raises:
        RunError: if a loss is not finite, or a checkpoint is damaged.
        ValueError: if the stage yields more or fewer batches than its `steps_per_epoch`.
    """
    groups = [{**group, "base_lr": group["lr"]} for group in stage.parameter_groups()]
    steps = schedule.epochs * stage.steps_per_epoch
    checkpoint = load_progress(folder / LAST, world) if resume else None
    best = load_progress(folder / BEST, world) if checkpoint else None
    if best is None and world.is_first:
        shutil.rmtree(folder, ignore_errors=True)
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-7, weight_decay=schedule.weight_decay, fused=True)
    if best is None:
        best = last = _record(stage, world, epoch=0, loss=None, seconds=0.0)
        if world.is_first:
            log.take_back(stage.name, -1)
            log.append(**best)
            save_checkpoint(folder / BEST, stage.weights(), best)
    else:
        last = checkpoint
        stage.load_weights(load_weights(folder / LAST, world))
        load_optimizer(folder / LAST, optimizer, world)
        if world.is_first:
            log.take_back(stage.name, last["epoch"])
    loss_of = world.data_parallel(stage.loss, [parameter for group in groups for parameter in group["params"]])

    dev = last.get(SELECTION_METRIC)
    for epoch in range(last["epoch"] + 1, schedule.epochs + 1):
        if schedule.patience and epoch - 1 - best["epoch"] >= schedule.patience:
            break
        start = time.perf_counter()
        rng = seed_everything(derived_seed(seed, stage.name, epoch), with_graph=stage.uses_graph, rank=world.rank)
        losses = []
        stage.begin_epoch(epoch, schedule.epochs)
        stage.set_training(True)
        for number, batch in enumerate(stage.batches(rng), start=1):
            step = (epoch - 1) * stage.steps_per_epoch + number
            for group in optimizer.param_groups:
                group["lr"] = group["base_lr"] * _factor(step, steps, schedule.warmup)
            losses.append(_step(loss_of, batch, optimizer, device))
            if not math.isfinite(losses[-1]):
                raise RunError(
                    f"{stage.name}, epoch {epoch}, step {step}: the loss is {losses[-1]}; lower the learning rate "
                    f"(--set {stage.name}.lr=...)"
                )
            listener(TrainingProgress(stage.name, epoch, schedule.epochs, step, steps, losses[-1], dev))
        if len(losses) != stage.steps_per_epoch:
            raise ValueError(
                f"{stage.name}: yielded {len(losses)} batches, but steps_per_epoch is {stage.steps_per_epoch}"
            )
        seconds = time.perf_counter() - start
        record = _record(stage, world, epoch=epoch, loss=sum(losses) / len(losses), seconds=seconds)
        dev = record.get(SELECTION_METRIC)
        is_best = dev is None or _quality(record) > _quality(best)
        if is_best:
            best = record
        if world.is_first:
            log.append(**record, step_losses=[round(loss, 6) for loss in losses])
            if is_best:
                save_checkpoint(folder / BEST, stage.weights(), best)
            save_checkpoint(folder / LAST, stage.weights(), record, optimizer)
    stage.load_weights(load_weights(folder / BEST, world))
    stage.set_training(False)
    return best


def _step(
    loss_of: Callable[[object], torch.Tensor], batch: object, optimizer: torch.optim.Optimizer, device: torch.device
) -> float:
    optimizer.zero_grad(set_to_none=True)
    with reproducible_sums(device):
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            loss = loss_of(batch)
        loss.backward()
    optimizer.step()
    return float(loss.detach())


def _quality(record: dict[str, object]) -> tuple[float, float]:
    return record.get(SELECTION_METRIC, -1.0), record.get(TIE_BREAKER, -1.0)


def _factor(step: int, steps: int, warmup: float) -> float:
    """Return the share of the base rate at a step (from 1): a linear rise over the warm-up, then a linear fall to 0."""
    rise = max(1, round(warmup * steps))
    return step / rise if step <= rise else (steps - step) / max(1, steps - rise)


def _record(stage: Stage, world: World, *, epoch: int, loss: float | None, seconds: float) -> dict[str, object]:
    stage.set_training(False)
    metrics = stage.dev_metrics() or {}
    record = {"stage": stage.name, "epoch": epoch, "loss": loss, "seconds": round(seconds, 2), **metrics}
    return world.json_from_first(lambda: record)
