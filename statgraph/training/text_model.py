"""The text encoders in training: what every stage encodes with them, and how good they are on the dev split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from statgraph.distributed import SINGLE, World
from statgraph.encoders.biencoder import BiEncoder, Inputs, encoded
from statgraph.evaluation.metrics import DEPTH, aggregate, question_metrics
from statgraph.negatives.source import EpochVectors
from statgraph.training.loop import Stage

Encode = Callable[[Inputs], torch.Tensor]


@dataclass(frozen=True)
class TextModel:
    """The text encoders that the stages train, the corpus prepared for them, and where they run.

    Attributes:
        encoders: both sides.
        articles: every article.
        dev_questions: the dev questions.
        dev_labels: for each dev question the rows of the articles that answer it; empty where the corpus has none.
        device: where the encoders are.
        world: the processes that train together; each encodes its share, and all get all vectors.
    """

    encoders: BiEncoder
    articles: Inputs
    dev_questions: Inputs
    dev_labels: Sequence[Sequence[int]]
    device: torch.device
    world: World = SINGLE

    def encoded(self, encode: Encode, inputs: Inputs) -> np.ndarray:
        """Return the vectors of all inputs, (inputs, width) float32, without gradients and without dropout."""
        was_training = self.encoders.training
        self.encoders.eval()
        vectors = encoded(encode, inputs, batch=self.encoders.encode_batch, device=self.device)
        self.encoders.train(was_training)
        return vectors

    def vectors(self, encode: Encode, inputs: Inputs, rows: np.ndarray) -> torch.Tensor:
        """Return the vectors of some rows of the inputs, (rows, width), with gradients."""
        own = inputs.take(torch.from_numpy(self.world.share(rows))).to(self.device)
        return self.world.gathered(encode(own), len(rows))

    def index_vectors(self) -> np.ndarray:
        """Return the articles' vectors for an inner-product search, one row an article, float32."""
        return self.encoders.similarity.index_vectors(self.encoded(self.encoders.articles, self.articles))

    def epoch_vectors(self, questions: Inputs, index_vectors: np.ndarray) -> EpochVectors:
        """Return what a source of hard negatives ranks with: the questions' vectors beside those of the articles."""
        vectors = self.encoded(self.encoders.questions, questions)
        return EpochVectors(self.encoders.similarity.query_vectors(vectors), index_vectors)

    def dev_metrics(self, index_vectors: np.ndarray) -> dict[str, float]:
        """Return the dev metrics of ranking the articles' index vectors with the question encoder."""
        questions = self.encoded(self.encoders.questions, self.dev_questions)
        return vector_metrics(self.encoders.similarity.query_vectors(questions), index_vectors, self.dev_labels)


class EncoderStage(Stage):
    """A stage that trains the text encoders and nothing else: what the training loop asks of it beside pairs and loss.

    Args:
        model: the text encoders.
    """

    uses_graph = False

    def __init__(self, model: TextModel):
        self._model = model
        self._encoders = model.encoders

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return what training can change in the encoders."""
        return self._encoders.trained_state()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put the encoders' weights back."""
        self._encoders.load_trained_state(dict(weights))
        self.weights_changed()

    def set_training(self, on: bool) -> None:
        """Switch dropout on or off."""
        self._encoders.train(on)


def vector_metrics(
    question_vectors: np.ndarray, article_vectors: np.ndarray, label_rows: Sequence[Sequence[int]]
) -> dict[str, float]:
    """Return each metric (means over the questions, 0 to 1) of ranking articles by inner product, ties by row.

    Args:
        question_vectors: (questions, width).
        article_vectors: (articles, width).
        label_rows: the rows that answer each question.
    """
    scores = question_vectors @ article_vectors.T  # (questions, articles)
    n_articles = scores.shape[1]
    depth = min(DEPTH, n_articles)
    best = np.sort(np.argpartition(-scores, depth - 1, axis=1)[:, :depth], axis=1)
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    metrics = aggregate(question_metrics(np.take_along_axis(best, order, axis=1), label_rows, n_articles))
    return {name: round(value, 5) for name, value in metrics.items()}
