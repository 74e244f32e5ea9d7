"""Stage 1: the contrastive training of the text encoders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from statgraph.config import Stage1Config
from statgraph.distributed import SINGLE, World
from statgraph.encoders.biencoder import BiEncoder, Inputs, encoded
from statgraph.negatives.source import EpochVectors, NegativeSource
from statgraph.training.dev_scores import vector_metrics
from statgraph.training.losses import ranking_loss, similarities
from statgraph.training.pairs import PairSource
from statgraph.training.sampling import PairStream, answers_among, batch_shares, epoch_of, epoch_steps


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
    synthetic: np.ndarray  # (synthetic pairs, 2)
    negatives: np.ndarray  # (negatives,)


_NO_PAIRS = np.empty((0, 2), dtype=np.int64)
_NO_ROWS = np.empty(0, dtype=np.int64)


class Stage1:
    """Contrastive training over weighted pair sources, with in-batch and hard negatives.

    Args:
        encoders: what is trained.
        texts: articles and dev questions.
        gold: the training questions with their articles.
        headings: headings as questions, or None where their weight is 0.
        synthetic: synthetic questions with their articles, or None where their weight is 0.
        negatives: hard negatives of the gold pairs, or None.
        config: sizes, weights and rates.
        world: the processes that train together; each encodes its share of a batch, and all see all of its vectors.
    """

    name = "stage1"
    uses_graph = False

    def __init__(
        self,
        encoders: BiEncoder,
        texts: TrainingTexts,
        *,
        gold: PairSource,
        headings: PairSource | None = None,
        synthetic: PairSource | None = None,
        negatives: NegativeSource | None = None,
        config: Stage1Config,
        device: torch.device,
        world: World = SINGLE,
    ):
        self._encoders = encoders
        self._texts = texts
        self._negatives = negatives
        self._config = config
        self._device = device
        self._world = world
        weights = {"gold": config.gold, "headings": config.headings, "synthetic": config.synthetic}
        given = {"gold": gold, "headings": headings, "synthetic": synthetic}
        self._sources = {name: source for name, source in given.items() if source is not None}
        self._sizes = batch_shares({name: weights[name] for name in self._sources}, config.batch_size)
        self._inputs = {name: encoders.question_inputs(source.texts) for name, source in self._sources.items()}
        # Without gold pairs an epoch is one pass over the pairs of the next source.
        self._leading = next(name for name, size in self._sizes.items() if size)
        self.steps_per_epoch = epoch_steps(
            len(self._sources[self._leading].pairs), self._sizes[self._leading], config.min_epoch_steps
        )
        self._article_vectors: np.ndarray | None = None  # of the weights as they stand, where they are known

    def parameter_groups(self) -> list[dict]:
        """Return the encoders' groups."""
        return self._encoders.parameter_groups(lr=self._config.lr, weight_lr=self._config.weight_lr)

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return what training can change in the encoders."""
        return self._encoders.trained_state()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put the encoders' weights back."""
        self._encoders.load_trained_state(dict(weights))
        self._article_vectors = None

    def set_training(self, on: bool) -> None:
        """Switch dropout on or off."""
        self._encoders.train(on)

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Show the source of hard negatives the encoders as they stand."""
        if self._negatives is None:
            return
        vectors = None
        if self._negatives.needs_vectors:
            was_training = self._encoders.training
            self._encoders.eval()
            questions = self._encoded(self._encoders.questions, self._inputs["gold"])
            vectors = EpochVectors(self._encoders.similarity.query_vectors(questions), self._index_vectors())
            self._encoders.train(was_training)
        self._negatives.begin_epoch(epoch, epochs, vectors)

    def batches(self, rng: np.random.Generator) -> Iterator[_Batch]:
        """Yield one pass over the gold pairs, pairs of the other sources drawn beside them."""
        others = {
            name: PairStream(source, rng)
            for name, source in self._sources.items()
            if name != self._leading and self._sizes[name]
        }
        leading, size = self._sources[self._leading].pairs, self._sizes[self._leading]
        for pairs in epoch_of(leading, size, rng, min_steps=self._config.min_epoch_steps):
            drawn = {name: stream.draw(self._sizes[name]) for name, stream in others.items()} | {self._leading: pairs}
            gold = drawn.get("gold", _NO_PAIRS)
            yield _Batch(
                gold,
                drawn.get("headings", _NO_PAIRS),
                drawn.get("synthetic", _NO_PAIRS),
                self._hard(gold, rng),
            )

    def loss(self, batch: _Batch) -> torch.Tensor:
        """Return the loss over the batch's pairs; all articles of the batch are candidates."""
        self._article_vectors = None  # a step follows
        drawn = [(name, getattr(batch, name)) for name in self._sources]
        pairs = np.concatenate([rows for _, rows in drawn])
        article_rows = np.concatenate([pairs[:, 1], batch.negatives])
        answers = np.concatenate(
            [answers_among(self._sources[name], rows[:, 0], article_rows) for name, rows in drawn]
        )  # (pairs, articles)
        own = np.arange(len(pairs))
        answers[own, own] = False
        questions = [
            self._encoded_share(self._encoders.questions, self._inputs[name], rows[:, 0])
            for name, rows in drawn
            if len(rows)
        ]
        articles = self._encoded_share(self._encoders.articles, self._texts.articles, article_rows)
        counts = [len(rows) for _, rows in drawn if len(rows)]
        questions = torch.cat([self._world.gathered(*part) for part in zip(questions, counts, strict=True)])
        articles = self._world.gathered(articles, len(article_rows))
        return ranking_loss(
            self._config.loss,
            similarities(questions, articles, self._encoders.similarity),  # (pairs, articles)
            torch.from_numpy(own).to(self._device),
            torch.from_numpy(answers).to(self._device),
            temperature=self._config.temperature,
            margin=self._config.margin,
        )

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the dev metrics of ranking by the encoders alone."""
        if not self._texts.dev_labels:
            return None
        questions = self._encoded(self._encoders.questions, self._texts.dev_questions)
        query_vectors = self._encoders.similarity.query_vectors(questions)
        return vector_metrics(query_vectors, self._index_vectors(), self._texts.dev_labels)

    def _index_vectors(self) -> np.ndarray:
        """Return the articles' vectors for an inner-product search, computed once for each state of the weights."""
        if self._article_vectors is None:
            articles = self._encoded(self._encoders.articles, self._texts.articles)
            self._article_vectors = self._encoders.similarity.index_vectors(articles)
        return self._article_vectors

    def _encoded(self, encode, inputs: Inputs) -> np.ndarray:
        return encoded(encode, inputs, batch=self._encoders.encode_batch, device=self._device, world=self._world)

    def _encoded_share(self, encode, inputs: Inputs, rows: np.ndarray) -> torch.Tensor:
        return encode(inputs.take(torch.from_numpy(self._world.share(rows))).to(self._device))

    def _hard(self, gold: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self._negatives is None or not len(gold) or not self._config.negatives_per_pair:
            return _NO_ROWS
        return self._negatives.draw(gold[:, 0], self._config.negatives_per_pair, rng).ravel()
