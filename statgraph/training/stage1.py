"""Stage 1: the contrastive training of the text encoders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from statgraph.config import Stage1Config
from statgraph.negatives.source import NegativeSource
from statgraph.training.losses import ranking_loss, similarities
from statgraph.training.pairs import (
    PairSource,
    PairStream,
    QuestionOrder,
    answers_among,
    batch_shares,
    epoch_of,
    epoch_steps,
)
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
        negatives: hard negatives of the gold pairs, or None.
        order: which of the gold pairs each epoch draws from; None draws from all.
    """

    name = "stage1"

    def __init__(
        self,
        model: TextModel,
        sources: Mapping[str, PairSource],
        config: Stage1Config,
        negatives: NegativeSource | None = None,
        order: QuestionOrder | None = None,
    ):
        super().__init__(model, negatives)
        self._sources = sources
        self._config = config
        self._order = order
        self._sizes = batch_shares({name: getattr(config, name) for name in sources}, config.batch_size)
        self._inputs = {name: self._encoders.question_inputs(source.texts) for name, source in sources.items()}
        # Without gold pairs an epoch is one pass over the pairs of the next source.
        self._leading = next(name for name, size in self._sizes.items() if size)
        self.steps_per_epoch = epoch_steps(
            len(sources[self._leading].pairs), self._sizes[self._leading], config.min_epoch_steps
        )
        self._drawn_from = sources[self._leading].pairs  # in this epoch

    def parameter_groups(self) -> list[dict]:
        """Return the encoders' groups."""
        return self._encoders.parameter_groups(lr=self._config.lr, weight_lr=self._config.weight_lr)

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Choose the gold pairs to draw from, and show the current encoders to the source of hard negatives."""
        if self._order is not None and self._leading == "gold":
            self._drawn_from = self._order.pairs_of(self._sources["gold"].pairs, epoch, epochs)
        self._begin_negatives(epoch, epochs, self._inputs["gold"])

    def batches(self, rng: np.random.Generator) -> Iterator[_Batch]:
        """Yield one pass over the gold pairs, pairs of the other sources drawn beside them. An epoch that draws from
        fewer takes as many steps."""
        others = {
            name: PairStream(source, rng)
            for name, source in self._sources.items()
            if name != self._leading and self._sizes[name]
        }
        size = self._sizes[self._leading]
        for pairs in epoch_of(self._drawn_from, size, rng, min_steps=self.steps_per_epoch):
            # The leading source is the first of those that have a part.
            drawn = {self._leading: pairs} | {name: stream.draw(self._sizes[name]) for name, stream in others.items()}
            negatives = np.empty(0, dtype=np.int64)
            if self._negatives is not None and "gold" in drawn:
                negatives = self._negatives.draw(drawn["gold"][:, 0], self._config.negatives_per_pair, rng).ravel()
            yield _Batch(drawn, negatives)

    def loss(self, batch: _Batch) -> torch.Tensor:
        """Return the loss over the batch's pairs; all articles of the batch are candidates."""
        encoders, device = self._encoders, self._model.device
        article_rows = np.concatenate([rows[:, 1] for rows in batch.pairs.values()] + [batch.negatives])
        answers = np.concatenate(
            [answers_among(self._sources[name], rows[:, 0], article_rows) for name, rows in batch.pairs.items()]
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
            torch.from_numpy(own).to(device),
            torch.from_numpy(answers).to(device),
        )
