"""Stage 1: the contrastive training of the text encoders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from statgraph.config import Stage1Config
from statgraph.text.biencoder import BiEncoder, Inputs, encoded
from statgraph.training.dev_scores import vector_metrics
from statgraph.training.losses import contrastive_loss, similarities
from statgraph.training.pairs import PairSource
from statgraph.training.sampling import PairStream, answers_among, epoch_of, epoch_steps


@dataclass(frozen=True)
class TrainingTexts:
    """The prepared inputs of a corpus: its articles, and its dev questions with the rows that answer them."""

    articles: Inputs
    dev_questions: Inputs
    dev_labels: Sequence[Sequence[int]]


@dataclass(frozen=True)
class _Batch:
    gold: np.ndarray  # (gold pairs, 2)
    headings: np.ndarray  # (heading pairs, 2)
    negatives: np.ndarray  # (negatives,)


class Stage1:
    """Contrastive training over weighted pair sources, with in-batch and BM25 negatives.

    Args:
        encoders: what is trained.
        texts: articles and dev questions.
        gold: the training questions with their articles.
        headings: headings as questions, or None where their weight is 0.
        hard_negatives: (training questions, candidates) int64, for each question the BM25 rows that do not answer it.
        config: sizes, weights and rates.
    """

    name = "stage1"
    uses_graph = False

    def __init__(
        self,
        encoders: BiEncoder,
        texts: TrainingTexts,
        *,
        gold: PairSource,
        headings: PairSource | None,
        hard_negatives: np.ndarray | None,
        config: Stage1Config,
        device: torch.device,
    ):
        self._encoders = encoders
        self._texts = texts
        self._gold = gold
        self._headings = headings
        self._hard_negatives = hard_negatives
        self._config = config
        self._device = device
        share = config.gold / (config.gold + (config.headings if headings else 0.0))
        self._gold_size = max(1, round(config.batch_size * share)) if share else 0
        self._heading_size = config.batch_size - self._gold_size
        self._gold_inputs = encoders.question_inputs(gold.texts)
        self._heading_inputs = encoders.question_inputs(headings.texts) if headings else None
        # Without gold pairs an epoch is one pass over the heading pairs.
        drawn, size = (gold, self._gold_size) if self._gold_size else (headings, self._heading_size)
        self.steps_per_epoch = epoch_steps(len(drawn.pairs), size, config.min_epoch_steps)

    def parameter_groups(self) -> list[dict]:
        """Return the encoders' groups."""
        return self._encoders.parameter_groups(lr=self._config.lr, weight_lr=self._config.weight_lr)

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return what training can change in the encoders."""
        return self._encoders.trained_state()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put the encoders' weights back."""
        self._encoders.load_trained_state(dict(weights))

    def set_training(self, on: bool) -> None:
        """Switch dropout on or off."""
        self._encoders.train(on)

    def batches(self, rng: np.random.Generator) -> Iterator[_Batch]:
        """Yield one pass over the gold pairs, heading pairs drawn beside them."""
        drawn = PairStream(self._headings, rng) if self._headings and self._heading_size else None
        if not self._gold_size:
            for pairs in epoch_of(
                self._headings.pairs, self._heading_size, rng, min_steps=self._config.min_epoch_steps
            ):
                yield _Batch(self._gold.pairs[:0], pairs, np.empty(0, dtype=np.int64))
            return
        for gold in epoch_of(self._gold.pairs, self._gold_size, rng, min_steps=self._config.min_epoch_steps):
            headings = drawn.draw(self._heading_size) if drawn else gold[:0]
            yield _Batch(gold, headings, self._negatives(gold, rng))

    def loss(self, batch: _Batch) -> torch.Tensor:
        """Return the contrastive loss over the batch's pairs; all articles of the batch are candidates."""
        pairs = np.concatenate([batch.gold, batch.headings])
        article_rows = np.concatenate([pairs[:, 1], batch.negatives])
        answers = np.concatenate(
            [
                answers_among(source, rows[:, 0], article_rows)
                for source, rows in ((self._gold, batch.gold), (self._headings, batch.headings))
                if source is not None
            ]
        )
        own = np.arange(len(pairs))
        answers[own, own] = False
        questions = torch.cat(
            [
                self._encoders.questions(inputs.take(torch.from_numpy(rows[:, 0])).to(self._device))
                for inputs, rows in ((self._gold_inputs, batch.gold), (self._heading_inputs, batch.headings))
                if len(rows)
            ]
        )
        articles = self._encoders.articles(self._texts.articles.take(torch.from_numpy(article_rows)).to(self._device))
        return contrastive_loss(
            similarities(questions, articles),  # (pairs, articles)
            torch.from_numpy(own).to(self._device),
            torch.from_numpy(answers).to(self._device),
            temperature=self._config.temperature,
        )

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the dev metrics of ranking by the encoders alone."""
        if not self._texts.dev_labels:
            return None
        size = {"batch": self._encoders.encode_batch, "device": self._device}
        questions = encoded(self._encoders.questions, self._texts.dev_questions, **size)
        articles = encoded(self._encoders.articles, self._texts.articles, **size)
        return vector_metrics(questions, articles, self._texts.dev_labels)

    def _negatives(self, gold: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self._hard_negatives is None or not self._config.bm25_negatives:
            return np.empty(0, dtype=np.int64)
        candidates = self._hard_negatives[gold[:, 0]]  # (pairs, candidates)
        columns = rng.integers(0, candidates.shape[1], size=(len(gold), self._config.bm25_negatives))
        return np.take_along_axis(candidates, columns, axis=1).ravel()
