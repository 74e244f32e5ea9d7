"""What ranks the articles of a run for a question: vectors or BM25."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from statgraph import artifacts
from statgraph.config import Bm25Config
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RunError, StatgraphError
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.encoder_outline import MODULES
from statgraph.inference.query_encoder import QueryEncoder, load_query_encoder
from statgraph.lexical.bm25 import BM25


class Ranker(Protocol):
    """Ranks articles for questions."""

    def rank(
        self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each question (rows int64, scores float32) of its best `k` articles, best first.

        `allowed` is the article rows to rank; None is all. Where there are fewer than `k`, these are all that is
        returned.
        """


class DenseRanker:
    """The distilled query encoder (a plain sentence-transformers folder) over the run's index.

    Raises:
        RunError: if the index or the encoder is missing or damaged.
        ModelError: if the graph beside the encoder is.
        UsageError: if the device or the precision is not known or not there.
        DependencyError: if onnxruntime is missing, and int8 was asked for.
    """

    def __init__(self, run_folder: Path, *, device: str = "auto", precision: str = "float32"):
        self._index = ArticleIndex.load(run_folder / artifacts.RUN_INDEX, device=device)
        self._encoder = _query_encoder(run_folder / artifacts.RUN_QUERY_ENCODER, device, precision)

    @property
    def article_ids(self) -> tuple[str, ...]:
        """Return the id of every article row of the index."""
        return self._index.article_ids

    def rank(
        self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each question (rows, scores) by inner product with the graph-enriched article vectors."""
        scores, rows = self._index.search(self.question_vectors(questions), k, allowed)
        return list(rows), list(scores)

    def question_vectors(self, questions: Sequence[str]) -> np.ndarray:
        """Return what the index is searched with, (questions, width) float32."""
        return self._encoder.encode(questions)


class LexicalRanker:
    """BM25 over the run's articles.

    Attributes:
        bm25: the index of their texts.
    """

    def __init__(self, texts: Sequence[str], *, language: str, config: Bm25Config):
        self.bm25 = BM25(texts, language=language, k1=config.k1, b=config.b)

    def rank(
        self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each question (rows, scores) by BM25."""
        ranked = [self.bm25.ranking(question, k, allowed) for question in questions]
        return [rows for rows, _ in ranked], [scores for _, scores in ranked]


def _query_encoder(folder: Path, device: str, precision: str) -> QueryEncoder:
    # A folder that is not there would count as a name of the hub.
    if not (folder / MODULES).is_file():
        raise RunError(f"{folder}: no query encoder ({MODULES} is missing); train the run again")
    try:
        return load_query_encoder(folder, device=device, precision=precision)
    except StatgraphError:
        raise
    except Exception as error:  # each file of the folder has a reader with exceptions of its own
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise RunError(f"{folder}: not loadable ({reason}); train the run again") from None
