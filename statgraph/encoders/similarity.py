"""How alike a question's and an article's vectors are, and how an inner-product index ranks by it (G-DSR, table 6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch.nn import functional

from statgraph.config import EncoderConfig
from statgraph.settings import check_setting

_LEAST_SQUARE = 1e-12  # the gradient of a square root is infinite at zero


class Similarity:
    """A similarity of vectors, greater for what belongs together: as it is here, the inner product (`dot`).

    It has the vectors that make an inner product rank as it does: FAISS then needs no index of another metric, and the
    query encoder stays a plain folder.
    """

    name = "dot"
    unit_length = False

    def finished(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return an encoder's raw vectors (texts, width) as this similarity takes them."""
        return vectors

    def scores(self, questions: torch.Tensor, articles: torch.Tensor) -> torch.Tensor:
        """Return (questions, articles) from float32 vectors (questions, width) and (articles, width)."""
        return questions @ articles.T

    def query_vectors(self, questions: np.ndarray) -> np.ndarray:
        """Return what a search is made with, float32, one row a question."""
        return questions

    def index_vectors(self, articles: np.ndarray) -> np.ndarray:
        """Return what the index holds, float32, one row an article."""
        return articles

    def query_projection(self, weight: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the last linear map of a query encoder (width, width), (width,) as one that gives `query_vectors`."""
        return weight, bias


class Cosine(Similarity):
    """The cosine: the inner product of unit vectors."""

    name = "cosine"
    unit_length = True

    def finished(self, vectors: torch.Tensor) -> torch.Tensor:
        return functional.normalize(vectors, dim=1)


class Euclidean(Similarity):
    """The negative Euclidean distance.

    For one question, -|q - a| ranks as q . a - |a|^2 / 2, which is the inner product of [q, 1] and [a, -|a|^2 / 2]:
    both get one component more.
    """

    name = "euclidean"

    def scores(self, questions: torch.Tensor, articles: torch.Tensor) -> torch.Tensor:
        squares = (
            questions.square().sum(dim=1, keepdim=True) + articles.square().sum(dim=1) - 2 * questions @ articles.T
        )  # (questions, articles)
        return -squares.clamp(min=_LEAST_SQUARE).sqrt()

    def query_vectors(self, questions: np.ndarray) -> np.ndarray:
        """Return [q, 1], (questions, width + 1)."""
        return np.column_stack([questions, np.ones(len(questions), dtype=np.float32)])

    def index_vectors(self, articles: np.ndarray) -> np.ndarray:
        """Return [a, -|a|^2 / 2], (articles, width + 1)."""
        return np.column_stack([articles, -np.square(articles).sum(axis=1, dtype=np.float32) / 2])

    def query_projection(self, weight: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the map with a last component that is always 1."""
        return torch.cat([weight, torch.zeros_like(weight[:1])]), torch.cat([bias, torch.ones_like(bias[:1])])


SIMILARITIES: Mapping[str, Similarity] = {kind.name: kind for kind in (Cosine(), Similarity(), Euclidean())}


def similarity_of(name: str) -> Similarity:
    """Return the similarity of a name.

    Raises:
        UsageError: if the name is not known.
    """
    check_setting(EncoderConfig, "similarity", name, place="encoder.similarity")
    return SIMILARITIES[name]
