"""Stage 1: the contrastive training of the text encoders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from statgraph.config import Stage1Config
from statgraph.device import on_device
from statgraph.training.losses import ranking_loss, similarities
from statgraph.training.negatives.source import NegativeSource
from statgraph.training.pairs import PairMix, PairSource, answers_among, easiest_pairs
from statgraph.training.text_model import EncoderStage, TextModel


@dataclass(frozen=True)
class _Batch:
    pairs: Mapping[str, np.ndarray]  # by source, (pairs, 2)
    negatives: np.ndarray  # (negatives,)


class Stage1(EncoderStage):
    """Contrastive training over weighted pair sources, with in-batch and hard negatives.

    Args:
        model: the text encoders, which are trained, and what they are judged by.
        sources: the pairs by name: gold (training questions with their articles), and where they have a weight headings
            (headings as questions), citing (texts that cite the law) and synthetic (synthetic questions).
        config: sizes, weights and rates.
        negatives: hard negatives of the pairs of each source that has some, by its name.
        order: the place of each training question, easy ones first, of which the first epochs draw from fewer; None
            draws from all.
    """

    name = "stage1"

    def __init__(
        self,
        model: TextModel,
        sources: Mapping[str, PairSource],
        config: Stage1Config,
        negatives: Mapping[str, NegativeSource],
        order: np.ndarray | None = None,
    ):
        super().__init__(model, negatives)
        self._config = config
        self._order = order
        self._mix = PairMix(sources, config)
        self.steps_per_epoch = self._mix.steps
        self._inputs = {name: self._encoders.question_inputs(source.texts) for name, source in sources.items()}
        self._gold: np.ndarray | None = None  # pairs that this epoch draws from, where an order decides

    def parameter_groups(self) -> list[dict[str, Any]]:
        return self._encoders.parameter_groups(lr=self._config.lr, weight_lr=self._config.weight_lr)

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Choose the gold pairs to draw from, and show the current encoders to the source of hard negatives."""
        if self._order is not None and "gold" in self._mix.sources:
            self._gold = easiest_pairs(self._mix.sources["gold"].pairs, self._order, epoch, epochs)
        self._begin_negatives(epoch, epochs, self._inputs["gold"])

    def batches(self, rng: np.random.Generator) -> Iterator[_Batch]:
        """Yield one pass over the gold pairs, pairs of the other sources drawn beside them. An epoch that draws from
        fewer takes as many steps."""
        for pairs in self._mix.epoch(rng, self._gold):
            yield _Batch(pairs, self._hard_negatives(pairs, self._config.negatives_per_pair, rng))

    def loss(self, batch: _Batch) -> torch.Tensor:
        """Return the loss over the batch's pairs; all articles of the batch are candidates."""
        encoders, device = self._encoders, self._model.device
        article_rows = np.concatenate([rows[:, 1] for rows in batch.pairs.values()] + [batch.negatives])
        answers = np.concatenate(
            [answers_among(self._mix.sources[name], rows[:, 0], article_rows) for name, rows in batch.pairs.items()]
        )  # (pairs, articles)
        own = np.arange(len(answers))
        answers[own, own] = False
        questions = [
            self._model.vectors(encoders.questions, self._inputs[name], rows[:, 0])
            for name, rows in batch.pairs.items()
        ]
        articles = self._model.vectors(encoders.articles, self._model.articles, article_rows)
        return ranking_loss(
            self._config,
            similarities(torch.cat(questions), articles, encoders.similarity),  # (pairs, articles)
            on_device(torch.from_numpy(own), device),
            on_device(torch.from_numpy(answers), device),
        )
