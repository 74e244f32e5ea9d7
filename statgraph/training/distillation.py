"""Distillation after the graph stage: the query encoder learns from a graph encoder that no longer changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from statgraph.config import Stage2Config
from statgraph.device import on_device
from statgraph.encoders.biencoder import Inputs
from statgraph.training.losses import distillation_losses
from statgraph.training.pairs import PairSource, epoch_of, epoch_steps
from statgraph.training.stage2 import GraphVectors
from statgraph.training.text_model import EncoderStage, TextModel


class AfterGraph(EncoderStage):
    """Trains the query encoder on the vectors that the finished graph encoder gives the training questions (QABISAR,
    section 2.3, one after the other).

    Args:
        model: the text encoders; only the question side learns.
        teacher: the vectors of the whole graph; its articles are what both sides are compared over.
        gold: the training questions with their articles.
        questions: the training questions, prepared.
        config: sizes, rates and the kind of distillation.
    """

    name = "distillation"

    def __init__(
        self, model: TextModel, teacher: GraphVectors, gold: PairSource, questions: Inputs, config: Stage2Config
    ):
        super().__init__(model, {})
        self._teacher = teacher
        self._gold = gold
        self._questions = questions
        self._config = config
        self.steps_per_epoch = epoch_steps(len(gold.pairs), config.batch_size, config.min_epoch_steps)

    def parameter_groups(self) -> list[dict[str, Any]]:
        return self._encoders.question_parameter_groups(
            lr=self._config.encoder_lr, weight_lr=self._config.encoder_weight_lr
        )

    def batches(self, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (question rows, article rows): those of a batch of gold pairs, and as many articles drawn at random."""
        steps = {"min_steps": self._config.min_epoch_steps}
        for gold in epoch_of(self._gold.pairs, self._config.batch_size, rng, **steps):
            random = rng.integers(0, len(self._teacher.articles), len(gold))
            yield np.unique(gold[:, 0]), np.unique(np.concatenate([gold[:, 1], random]))

    def loss(self, batch: tuple[np.ndarray, np.ndarray]) -> torch.Tensor:
        """Return the sum of the distillation losses of the batch's questions."""
        questions, articles = (on_device(torch.from_numpy(rows), self._model.device) for rows in batch)
        student = self._model.vectors(self._encoders.questions, self._questions, batch[0])
        teacher, compared = self._teacher.questions[questions], self._teacher.articles[articles]
        losses = distillation_losses(self._config, teacher, student, compared, self._encoders.similarity)
        return torch.stack(losses).sum()

    def _new_index_vectors(self) -> np.ndarray:
        """Return the graph's article vectors, which no longer change."""
        return self._encoders.similarity.index_vectors(self._teacher.articles.float().cpu().numpy())
