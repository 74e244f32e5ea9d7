"""What every program is given, and the encoder that all but statgraph load."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from statgraph.law.records import Corpus


@dataclass(frozen=True)
class Law:
    """A law with its training questions, and the folder of the encoder that all but statgraph load."""

    corpus: Corpus
    encoder: Path

    @classmethod
    def of(cls, corpus: Corpus, encoder: Path) -> Law:
        """Return the law of a corpus, without what belongs to its test questions."""
        questions = tuple(question for question in corpus.questions if question.split != "test")
        return cls(replace(corpus, questions=questions, citing=tuple(corpus.usable_citing())), encoder)

    @property
    def language(self) -> str:
        """Return the code of its language."""
        return self.corpus.language

    @property
    def ids(self) -> list[str]:
        """Return the id of each article."""
        return [article.article_id for article in self.corpus.articles]

    @property
    def texts(self) -> list[str]:
        """Return path, rubric and text of each article."""
        return [
            "\n".join([" > ".join(article.path), *filter(None, [article.rubric]), article.text])
            for article in self.corpus.articles
        ]


class Encoder:
    """multilingual-e5-small in sentence-transformers.

    A program that embeds what another has embedded takes its vectors, which are `kept_in` a folder; `saved_s` is how
    long that took there.
    """

    kept_in = Path()
    saved_s = 0.0

    def __init__(self, folder: Path):
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit-length vectors, (texts, 384) float32."""
        digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()
        kept = self.kept_in / f"{digest}.npz" if len(texts) > 1 else None
        if kept is not None and kept.is_file():
            with np.load(kept) as found:
                Encoder.saved_s += float(found["seconds"])
                return found["vectors"]
        start = time.perf_counter()
        vectors = self.model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        if kept is not None:
            np.savez(kept, vectors=vectors, seconds=time.perf_counter() - start)
        return vectors
