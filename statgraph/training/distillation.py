"""Distillation after the graph stage: the query encoder learns from a graph encoder that stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch

from statgraph.config import Stage2Config
from statgraph.distributed import SINGLE, World
from statgraph.encoders.biencoder import BiEncoder, Inputs, encoded
from statgraph.training.dev_scores import vector_metrics
from statgraph.training.losses import DISTILLATIONS
from statgraph.training.pairs import PairSource
from statgraph.training.sampling import epoch_of, epoch_steps
from statgraph.training.stage1 import TrainingTexts


class AfterGraph:
    """Trains the query encoder on what the finished graph encoder makes of the training questions (QABISAR, section
    2.3, one after the other).

    Args:
        encoders: the text encoders; only the question side learns.
        questions: the training questions.
        teacher: (questions, width), their vectors in the whole graph.
        articles: (articles, width), the articles' in the whole graph: what both are compared over.
        evaluation: articles and dev questions.
        gold: the training questions with their articles.
        config: sizes, rates and the kind of distillation.
        world: the processes that train together.
    """

    name = "distillation"
    uses_graph = False

    def __init__(
        self,
        encoders: BiEncoder,
        *,
        questions: Inputs,
        teacher: torch.Tensor,
        articles: torch.Tensor,
        evaluation: TrainingTexts,
        gold: PairSource,
        config: Stage2Config,
        device: torch.device,
        world: World = SINGLE,
    ):
        self._encoders = encoders
        self._questions = questions
        self._teacher = teacher
        self._articles = articles
        self._index_vectors = encoders.similarity.index_vectors(articles.float().cpu().numpy())
        self._evaluation = evaluation
        self._gold = gold
        self._config = config
        self._device = device
        self._world = world
        self.steps_per_epoch = epoch_steps(len(gold.pairs), config.batch_size, config.min_epoch_steps)

    def parameter_groups(self) -> list[dict]:
        """Return the query encoder's groups."""
        return self._encoders.question_parameter_groups(
            lr=self._config.encoder_lr, weight_lr=self._config.encoder_weight_lr
        )

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return what training can change in the encoders."""
        return self._encoders.trained_state()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put the encoders' weights back."""
        self._encoders.load_trained_state(dict(weights))

    def set_training(self, on: bool) -> None:
        """Switch dropout on or off."""
        self._encoders.train(on)

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Do nothing: every epoch is alike."""

    def batches(self, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (question rows, article rows): those of a batch of gold pairs, and as many articles drawn at random."""
        steps = {"min_steps": self._config.min_epoch_steps}
        for gold in epoch_of(self._gold.pairs, self._config.batch_size, rng, **steps):
            random = rng.integers(0, len(self._articles), len(gold))
            yield np.unique(gold[:, 0]), np.unique(np.concatenate([gold[:, 1], random]))

    def loss(self, batch: tuple[np.ndarray, np.ndarray]) -> torch.Tensor:
        """Return the distillation losses of the batch's questions, added up."""
        questions, articles = (torch.from_numpy(rows) for rows in batch)
        own = torch.from_numpy(self._world.share(batch[0]))
        student = self._encoders.questions(self._questions.take(own).to(self._device))
        student = self._world.gathered(student, len(questions))
        teacher = self._teacher[questions.to(self._device)]
        compared = self._articles[articles.to(self._device)]
        losses = [
            distillation(
                teacher,
                student,
                compared,
                similarity=self._encoders.similarity,
                temperature=self._config.temperature,
            )
            for distillation in DISTILLATIONS[self._config.distillation]
        ]
        return torch.stack(losses).sum()

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the dev metrics of the query encoder over the graph's article vectors."""
        if not self._evaluation.dev_labels:
            return None
        questions = encoded(
            self._encoders.questions,
            self._evaluation.dev_questions,
            batch=self._encoders.encode_batch,
            device=self._device,
            world=self._world,
        )
        query_vectors = self._encoders.similarity.query_vectors(questions)
        return vector_metrics(query_vectors, self._index_vectors, self._evaluation.dev_labels)
