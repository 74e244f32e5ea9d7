"""What every program is given, the encoder that all but statgraph load, and the fusion of two rankings."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from statgraph.law.records import Corpus

Search = Callable[[str, int], list[str]]
VECTORS = "STATGRAPH_BENCH_VECTORS"  # the folder where vectors wait for the next program


@dataclass(frozen=True)
class Law:
    """A law as rows, with the keys of `corpus_from_dicts`; its questions are those of train and dev."""

    language: str
    articles: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    citing: list[dict[str, Any]]
    encoder: Path

    @classmethod
    def of(cls, corpus: Corpus, encoder: Path) -> Law:
        """Return the rows of a corpus, without what belongs to its test questions."""
        articles = [
            {"id": each.article_id, "path": list(each.path)}
            | {name: getattr(each, name) for name in ("title", "number", "rubric", "text")}
            for each in corpus.articles
        ]
        questions = [
            {**each.metadata, "id": each.question_id, "articles": each.article_ids}
            | {name: getattr(each, name) for name in ("text", "split")}
            for each in corpus.questions
            if each.split != "test"
        ]
        citing = [
            {"id": each.citing_id, "cites": each.article_ids}
            | {name: getattr(each, name) for name in ("title", "text", "question_id", "part")}
            for each in corpus.usable_citing()
        ]
        return cls(corpus.language, articles, questions, citing, encoder)

    @property
    def ids(self) -> list[str]:
        """Return the id of each article."""
        return [article["id"] for article in self.articles]

    @property
    def texts(self) -> list[str]:
        """Return path, rubric and text of each article."""
        return ["\n".join([" > ".join(a["path"]), *filter(None, [a["rubric"]]), a["text"]]) for a in self.articles]


class Encoder:
    """multilingual-e5-small in sentence-transformers.

    A program that embeds what another has embedded takes its vectors; `saved_s` is how long that took there.
    """

    saved_s = 0.0

    def __init__(self, folder: Path):
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit-length vectors, (texts, 384) float32."""
        digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()
        kept = Path(os.environ[VECTORS]) / f"{digest}.npz" if len(texts) > 1 else None
        if kept is not None and kept.is_file():
            with np.load(kept) as found:
                Encoder.saved_s += float(found["seconds"])
                return found["vectors"]
        start = time.perf_counter()
        vectors = self.model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        if kept is not None:
            np.savez(kept, vectors=vectors, seconds=time.perf_counter() - start)
        return vectors
