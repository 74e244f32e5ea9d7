"""A rehearsal of a run: one step of each of its stages with a tiny model, in a folder that is gone afterwards."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from statgraph.cache import cache_in
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.encoders.article_text import article_texts
from statgraph.encoders.tiny import write_tiny_backbone
from statgraph.systems.dense import prepared_stages
from statgraph.systems.job import Job
from statgraph.systems.presets import tiny_config
from statgraph.training.loop import Stage
from statgraph.training.seeding import seed_everything
from statgraph.training.steps import OptimizerSteps

_QUESTIONS, _ARTICLES = 6, 40


@dataclass(frozen=True)
class RehearsedStep:
    """The step of a stage: its loss before it and after, and the seconds of both."""

    stage: str
    first_loss: float
    second_loss: float
    seconds: float


def rehearsed(corpus: Corpus, config: RunConfig) -> list[RehearsedStep]:
    """Return the steps of a dense run's stages, taken with a tiny model over a part of the corpus.

    All settings are the run's but those of size. Nothing is left on disk.

    Raises:
        CorpusError, UsageError: as in training.
    """
    part = _part(corpus)
    with tempfile.TemporaryDirectory(prefix="statgraph-") as folder, cache_in(Path(folder) / "cache"):
        texts = article_texts(part.articles, heading_path=config.encoder.heading_path)
        questions = [question.text for question in part.questions]
        backbone = write_tiny_backbone(Path(folder) / "tiny", [*texts, *questions])
        job = Job(part, tiny_config(config, backbone), Path(folder) / "run")
        job.folder.mkdir()
        stages = prepared_stages(job)
        steps = []
        if stages.trains_encoders:
            steps.append(_one_step(stages.stage1(), job, clip=config.stage1.clip))
        if stages.graph is not None:
            steps.append(_one_step(stages.stage2(), job, clip=config.stage2.clip))
        return steps


def _part(corpus: Corpus) -> Corpus:
    """Return some training questions with the articles that answer them, and the first of the other articles."""
    questions = corpus.split("train")[:_QUESTIONS]
    wanted = {article_id for question in questions for article_id in question.article_ids}
    others = [article.article_id for article in corpus.articles if article.article_id not in wanted]
    wanted |= set(others[: max(0, _ARTICLES - len(wanted))])
    articles = tuple(article for article in corpus.articles if article.article_id in wanted)
    return replace(corpus, articles=articles, questions=tuple(questions), citing=())


def _one_step(stage: Stage, job: Job, *, clip: float) -> RehearsedStep:
    start = time.perf_counter()
    rng = seed_everything(job.config.seed, with_graph=stage.uses_graph)
    groups = stage.parameter_groups()
    parameters = [parameter for group in groups for parameter in group["params"]]
    steps = OptimizerSteps(torch.optim.AdamW(groups, fused=True), parameters, job.device, clip=clip)
    stage.begin_epoch(1, 1)
    stage.set_training(True)
    batch = next(iter(stage.batches(rng)))
    losses = []
    for _ in range(2):
        losses.append(steps.take(lambda: stage.loss(batch)))
        stage.weights_changed()
    if not np.isfinite(losses).all():
        raise ValueError(f"{stage.name}: the loss of a rehearsed step is {losses}")
    return RehearsedStep(stage.name, *losses, time.perf_counter() - start)
