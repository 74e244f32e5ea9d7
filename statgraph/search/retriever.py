"""The retriever that people use: a run folder in, hits out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.config import RunConfig, overlaid
from statgraph.errors import RunError, StatgraphError, UsageError
from statgraph.search.article_store import ArticleStore
from statgraph.search.ranker import DenseRanker, LexicalRanker, Ranker
from statgraph.text.article_text import PATH_SEPARATOR


@dataclass(frozen=True)
class Hit:
    """An article found. `rank` counts from 1; `score` is comparable within one run only."""

    rank: int
    score: float
    article_id: str
    title: str
    path: tuple[str, ...]
    text: str


class Retriever:
    """Answers questions with the articles of one run; make it with `load`."""

    def __init__(self, ranker: Ranker, articles: ArticleStore):
        self._ranker = ranker
        self._articles = articles

    @classmethod
    def load(cls, run: Path | str, *, device: str = "auto") -> Retriever:
        """Return the retriever in a run folder.

        Raises:
            RunError: if the folder is no finished run, or damaged.
        """
        folder = Path(run)
        manifest = read_run_manifest(folder)
        config = overlaid(RunConfig(), manifest["config"], place=str(folder / artifacts.MANIFEST))
        articles = ArticleStore(folder)
        if config.retriever == "bm25":
            texts = [
                f"{PATH_SEPARATOR.join(article.path)}\n{article.text}" if config.encoder.heading_path else article.text
                for article in articles.read(range(len(articles)))
            ]
            ranker: Ranker = LexicalRanker(texts, language=manifest["corpus"]["language"], config=config.bm25)
        else:
            ranker = _dense_ranker(folder, device)
        return cls(ranker, articles)

    def search(self, question: str, k: int = 10) -> list[Hit]:
        """Return the best `k` articles for a question (all of them where there are fewer).

        Raises:
            UsageError: if the question is blank or `k` is below 1.
        """
        if not question.strip():
            raise UsageError("the question is blank; ask something")
        (rows,), (scores,) = self.rank([question], k)
        return [
            Hit(rank, float(score), article.article_id, article.title, article.path, article.text)
            for rank, (score, article) in enumerate(zip(scores, self._articles.read(rows), strict=True), start=1)
        ]

    def rank(self, questions: Sequence[str], k: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each question (article rows int64, scores float32), best first.

        Raises:
            UsageError: if `k` is below 1.
        """
        if k < 1:
            raise UsageError(f"k is {k}; ask for at least 1 hit")
        return self._ranker.rank(questions, k)

    def article_ids(self) -> tuple[str, ...]:
        """Return the id of every article row."""
        return tuple(article.article_id for article in self._articles.read(range(len(self._articles))))


def read_run_manifest(folder: Path) -> dict:
    """Return the manifest of a finished run.

    Raises:
        RunError: if there is none, or it is damaged.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: no such run folder; train one with 'statgraph train'")
    path = folder / artifacts.MANIFEST
    if not path.is_file():
        raise RunError(f"{folder}: no finished run; finish it with 'statgraph train --out {folder} --resume'")
    try:
        manifest = artifacts.read_json(path)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RunError(f"{path}: not readable as JSON ({error}); train the run again") from None
    if not isinstance(manifest, dict) or not {"config", "corpus"} <= manifest.keys():
        raise RunError(f"{path}: not the manifest of a run; train the run again")
    return manifest


def _dense_ranker(folder: Path, device: str) -> DenseRanker:
    try:
        return DenseRanker(folder, device=device)
    except StatgraphError:
        raise
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RunError(
            f"{folder / artifacts.RUN_QUERY_ENCODER}: not loadable ({reason}); train the run again"
        ) from None
