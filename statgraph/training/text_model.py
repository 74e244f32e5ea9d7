"""The text encoders in training: what every stage encodes with them, and how good they are on the dev split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from statgraph.device import on_device
from statgraph.distributed import current_world
from statgraph.encoders.biencoder import BiEncoder, Inputs, encoded
from statgraph.evaluation.metrics import DEPTH, aggregate, question_metrics
from statgraph.graph.relations import ARTICLE, HEADING
from statgraph.training.loop import Stage
from statgraph.training.negatives.source import EpochVectors, NegativeSource

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
    """

    encoders: BiEncoder
    articles: Inputs
    dev_questions: Inputs
    dev_labels: Sequence[Sequence[int]]
    device: torch.device

    def encoded(self, encode: Encode, inputs: Inputs) -> np.ndarray:
        """Return the vectors of all inputs, (inputs, width) float32, without gradients and without dropout."""
        was_training = self.encoders.training
        self.encoders.eval()
        vectors = encoded(encode, inputs, batch=self.encoders.encode_batch, device=self.device)
        self.encoders.train(was_training)
        return vectors

    def vectors(self, encode: Encode, inputs: Inputs, rows: np.ndarray) -> torch.Tensor:
        """Return the vectors of some rows of the inputs, (rows, width), with gradients; each process encodes its share,
        and all get all."""
        own = inputs.take(torch.from_numpy(current_world().share(rows))).to(self.device)
        return current_world().gathered(encode(own), len(rows))

    def index_vectors(self) -> np.ndarray:
        """Return the articles' vectors for an inner-product search, one row an article, float32."""
        return self.encoders.similarity.index_vectors(self.encoded(self.encoders.articles, self.articles))

    def dev_metrics(self, index_vectors: np.ndarray) -> dict[str, float]:
        """Return the dev metrics of ranking the articles' index vectors with the question encoder."""
        questions = self.encoded(self.encoders.questions, self.dev_questions)
        return vector_metrics(self.encoders.similarity.query_vectors(questions), index_vectors, self.dev_labels)


class EncoderStage(Stage):
    """A stage over the text encoders: their weights, the articles' vectors for dev and negatives, once for each state.

    Args:
        model: the text encoders.
        negatives: hard negatives of the pairs of each source that has some, by its name.
    """

    def __init__(self, model: TextModel, negatives: Mapping[str, NegativeSource]):
        self._model = model
        self._encoders = model.encoders
        self._negatives = negatives
        self._index_vectors: np.ndarray | None = None  # of the current weights, once they are known

    def weights(self) -> Mapping[str, torch.Tensor]:
        return self._encoders.trained_state()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        self._encoders.load_trained_state(dict(weights))
        self.weights_changed()

    def weights_changed(self) -> None:
        self._index_vectors = None

    def set_training(self, on: bool) -> None:
        self._encoders.train(on)

    def index_vectors(self) -> np.ndarray:
        """Return the vectors of all articles for an inner-product search, one row an article, float32; computed once
        for each state of the weights."""
        if self._index_vectors is None:
            self._index_vectors = self._new_index_vectors()
        return self._index_vectors

    def _new_index_vectors(self) -> np.ndarray:
        return self._model.index_vectors()

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the dev metrics as at inference: the question encoder over the articles' index vectors."""
        return self._model.dev_metrics(self.index_vectors()) if self._model.dev_labels else None

    def _hard_negatives(self, pairs: Mapping[str, np.ndarray], per_pair: int, rng: np.random.Generator) -> np.ndarray:
        """Return article rows that do not answer the questions of each source's pairs (pairs, 2), where it has some."""
        drawn = [
            self._negatives[name].draw(rows[:, 0], per_pair, rng).ravel()
            for name, rows in pairs.items()
            if name in self._negatives
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *drawn])

    def _begin_negatives(self, epoch: int, epochs: int, questions: Inputs) -> None:
        """Show the current model to the source of the gold pairs' hard negatives, the only one that can need it."""
        if "gold" not in self._negatives:
            return
        vectors = None
        if self._negatives["gold"].needs_vectors:
            was_training = self._encoders.training
            self.set_training(False)
            own = self.index_vectors()
            # A GPU's sums differ between processes, and the rankings that all draw their batches from must not.
            articles = current_world().array_from_first(lambda: own)
            encoded_questions = self._model.encoded(self._encoders.questions, questions)
            vectors = EpochVectors(self._encoders.similarity.query_vectors(encoded_questions), articles)
            self.set_training(was_training)
        self._negatives["gold"].begin_epoch(epoch, epochs, vectors)


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
    ranked = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    metrics = aggregate(question_metrics(list(ranked), label_rows, scores.shape[1]))
    return {name: round(value, 5) for name, value in metrics.items()}


class NodeBank:
    """Text vectors of the nodes, in which stage 2 looks up a block's outer nodes.

    Args:
        model: the text encoders and the articles.
        texts: by node type, in the order of `LegalGraph.node_types`, the prepared inputs of all other nodes.

    Attributes:
        nodes: (nodes, width) on the device, types one after the other in the order of `LegalGraph.node_types`.
        by_type: by node type its part of them, (nodes of the type, width).
        is_outdated: whether the encoders have changed since the nodes were encoded.
    """

    def __init__(self, model: TextModel, texts: Mapping[str, Inputs]):
        self._model = model
        self._inputs = {ARTICLE: model.articles, **texts}
        self.is_outdated = True
        self.renew()

    def renew(self) -> None:
        """Encode all nodes with the current weights, without dropout, where those in the bank are outdated."""
        if not self.is_outdated:
            return
        encoders, vectors = self._model.encoders, []
        for node_type, inputs in self._inputs.items():
            encode = encoders.articles if node_type in (ARTICLE, HEADING) else encoders.questions
            of_type = self._model.encoded(encode, inputs).reshape(-1, encoders.width)
            vectors.append(torch.from_numpy(of_type).to(self._model.device))
        self.nodes = torch.cat(vectors)
        self.by_type = dict(zip(self._inputs, self.nodes.split([len(part) for part in vectors]), strict=True))
        self.is_outdated = False


def with_fresh(old: torch.Tensor, nodes: torch.Tensor, fresh: torch.Tensor, fresh_nodes: np.ndarray) -> torch.Tensor:
    """Return the vectors of a block's input nodes (nodes, width), the fresh ones in place of the old where there are.

    Args:
        old: (nodes, width), the vectors of the bank.
        nodes: (nodes,), the rows of the input nodes.
        fresh: (fresh nodes, width), with gradients; not all of them need be among the inputs.
        fresh_nodes: (fresh nodes,), their rows, sorted.
    """
    places = np.searchsorted(fresh_nodes, nodes.numpy()).clip(max=len(fresh_nodes) - 1)
    known = np.flatnonzero(fresh_nodes[places] == nodes.numpy())
    own, given = (on_device(torch.from_numpy(rows), old.device) for rows in (known, places[known]))
    return old.index_copy(0, own, fresh[given].to(old.dtype))
