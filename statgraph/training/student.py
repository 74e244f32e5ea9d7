"""Distillation of a ranking: a query encoder and free article vectors learn from the scores of a teacher."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from statgraph.config import StudentConfig
from statgraph.encoders.inference.onnx_query import OnnxQueryEncoder
from statgraph.encoders.inference.query_encoder import SentenceTransformerEncoder, read_query_encoder
from statgraph.encoders.loading import quiet_transformers
from statgraph.encoders.static import TokenBags, token_bags
from statgraph.training.loop import Stage
from statgraph.training.text_model import vector_metrics

RANDOM_ARTICLES = 2000  # of a batch, beside those that the teacher ranks high
TEMPERATURE = 0.05  # what the student's cosines are divided by
_DROPOUT = 0.1  # share of a static encoder's tokens, or of a transformer's components, that are left out in training
_UNCUT = 2**20  # tokens: the saved tokenizer cuts


@dataclass(frozen=True, eq=False)
class Lessons:
    """A teacher's rankings of texts.

    Attributes:
        texts: the questions.
        rows: (texts, best) int32, its best articles, best first.
        scores: (texts, best) float32, theirs.
    """

    texts: Sequence[str]
    rows: np.ndarray
    scores: np.ndarray


class StudentEncoder(nn.Module):  # type: ignore[misc]
    """A saved query encoder of which the part that a student trains is its parameters: of a static one the token
    vectors, of a transformer the linear map behind its pooling.

    Args:
        folder: a sentence-transformers folder as a run has it: StaticEmbedding or Transformer and Pooling, then Dense,
            then Normalize.
        device: where a transformer reads the texts; all else is on the CPU.
    """

    def __init__(self, folder: Path, device: str = "auto"):
        super().__init__()
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Dense, StaticEmbedding

        quiet_transformers()
        self._folder = folder
        self._device = device
        self._saved = [SentenceTransformer(str(folder), device="cpu")]  # in a list: no part of the module's state
        first = self._saved[0][0]
        self.is_static = isinstance(first, StaticEmbedding)
        if self.is_static:
            self.token_vectors = first.embedding.weight
        else:
            (linear,) = (module.linear for module in self._saved[0] if isinstance(module, Dense))
            self.weight, self.bias = linear.weight, linear.bias
        for parameter in self.parameters():
            parameter.requires_grad_(True)

    def inputs(self, texts: Sequence[str]) -> TokenBags | torch.Tensor:
        """Return texts prepared once: bags of tokens, or the frozen transformer's pooled vectors (texts, width)."""
        if self.is_static:
            saved = self._saved[0]
            prompt = saved.prompts.get(saved.default_prompt_name or "", "")
            return token_bags(saved[0].tokenizer, [prompt + text for text in texts], max_tokens=_UNCUT)
        encoder = read_query_encoder(self._folder, device=self._device)
        assert isinstance(encoder, OnnxQueryEncoder | SentenceTransformerEncoder)
        return torch.from_numpy(encoder.pooled(texts))

    def forward(self, inputs: TokenBags | torch.Tensor) -> torch.Tensor:
        """Return unit vectors (texts, width)."""
        if self.is_static:
            weights = torch.ones(len(inputs.ids))
            weights = functional.dropout(weights, _DROPOUT, self.training)
            raw = functional.embedding_bag(
                inputs.ids,
                self.token_vectors,
                inputs.offsets,
                mode="sum",
                per_sample_weights=weights,
                include_last_offset=True,
            )
        else:
            raw = functional.linear(functional.dropout(inputs, _DROPOUT, self.training), self.weight, self.bias)
        return functional.normalize(raw, dim=1)

    def save(self, folder: Path) -> None:
        """Write the encoder as a sentence-transformers folder."""
        self._saved[0].save(str(folder), create_model_card=False)


class Student(Stage):
    """Trains a query encoder and the vectors of the articles on a teacher's rankings of texts.

    loss = KL(softmax(teacher / temperature) || softmax(student / 0.05)), the mean over the batch's texts, over all
    articles that the teacher names for one of them and `RANDOM_ARTICLES` others; the teacher gives those that it does
    not name for a text nothing.

    Args:
        encoder: of the questions.
        articles: (articles, width) float32 at unit length, what their vectors begin as.
        lessons: of the teacher.
        dev: the dev questions, and for each the rows of the articles that answer it.
        config: sizes and rates.
    """

    name = "student"

    def __init__(
        self,
        encoder: StudentEncoder,
        articles: np.ndarray,
        lessons: Lessons,
        dev: tuple[Sequence[str], Sequence[Sequence[int]]],
        config: StudentConfig,
    ):
        self.encoder = encoder
        self.articles = nn.Parameter(torch.from_numpy(articles.copy()))
        self._lessons = lessons
        self._inputs = encoder.inputs(lessons.texts)
        questions, self._dev_labels = dev
        self._dev = encoder.inputs(questions) if len(questions) else None
        self._config = config
        self.steps_per_epoch = -(-len(lessons.texts) // config.batch_size)

    def parameter_groups(self) -> list[dict[str, Any]]:
        config = self._config
        return [
            {"params": list(self.encoder.parameters()), "lr": config.lr},
            {"params": [self.articles], "lr": config.article_lr},
        ]

    def weights(self) -> Mapping[str, torch.Tensor]:
        return {**self.encoder.state_dict(), "articles": self.articles.detach()}

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        state = dict(weights)
        with torch.no_grad():
            self.articles.copy_(state.pop("articles"))
        self.encoder.load_state_dict(state)

    def set_training(self, on: bool) -> None:
        self.encoder.train(on)

    def batches(self, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (text rows, article rows sorted) over all texts, shuffled."""
        size, named = self._config.batch_size, self._lessons.rows
        order = rng.permutation(len(named))
        for start in range(0, len(order), size):
            texts = order[start : start + size]
            random = rng.integers(0, len(self.articles), RANDOM_ARTICLES)
            yield texts, np.unique(np.concatenate([named[texts].ravel(), random]))

    def loss(self, batch: tuple[np.ndarray, np.ndarray]) -> torch.Tensor:
        """Return the mean divergence of the batch's texts."""
        texts, articles = batch
        rows, scores = (torch.from_numpy(values[texts]) for values in (self._lessons.rows, self._lessons.scores))
        columns = torch.searchsorted(torch.from_numpy(articles), rows.long())  # (texts, best)
        target = torch.zeros(len(texts), len(articles))
        target.scatter_(1, columns, functional.softmax(scores / self._config.temperature, dim=1))
        questions = self.encoder(_taken(self._inputs, texts))
        compared = functional.normalize(self.articles[torch.from_numpy(articles)], dim=1)
        guess = functional.log_softmax(questions @ compared.T / TEMPERATURE, dim=1)
        return functional.kl_div(guess, target, reduction="batchmean")

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the dev metrics of the encoder over the article vectors."""
        if self._dev is None:
            return None
        with torch.inference_mode():
            questions = self.encoder(self._dev).numpy()
        return vector_metrics(questions, self.index_vectors(), self._dev_labels)

    def index_vectors(self) -> np.ndarray:
        """Return the article vectors at unit length, (articles, width) float32."""
        with torch.inference_mode():
            vectors: np.ndarray = functional.normalize(self.articles, dim=1).numpy()
        return vectors


def _taken(inputs: TokenBags | torch.Tensor, rows: np.ndarray) -> TokenBags | torch.Tensor:
    places = torch.from_numpy(rows)
    return inputs.take(places) if isinstance(inputs, TokenBags) else inputs[places]
