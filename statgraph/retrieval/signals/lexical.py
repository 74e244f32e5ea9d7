"""BM25 as a signal: over an article's path and text, over the texts that cite it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.encoders.article_text import article_text
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import (
    WORDS,
    ZERO_SHOT,
    Proposal,
    QuestionBatch,
    Signal,
    SignalInfo,
    SignalSource,
)
from statgraph.runs.run import RunFolder

_HALF_DOUBT_AT = 20  # training questions
_DOUBT = "doubt.json"


class LexicalSignal(Signal):
    """BM25 over one text for each article.

    Attributes:
        doubt: how little a question counts that shares hardly a word with the texts: 0 is as much as any, 1 nothing.
        own_words: the share of what a question's terms could score that the best text of one in the texts' own words
            reaches.
    """

    bm25: BM25
    own_words = 0.4

    def __init__(self, bm25: BM25, doubt: float = 0.0):
        self.bm25 = bm25
        self.n_articles = len(bm25)
        self.doubt = doubt

    @staticmethod
    def texts(source: SignalSource) -> list[str]:
        """Return one text for each article; all empty where there is nothing to index."""
        raise NotImplementedError

    @staticmethod
    def doubt_about(source: SignalSource) -> float:
        """Return the `doubt` of the signal that is made from a source."""
        return 0.0

    @classmethod
    def write(cls, source: SignalSource, folder: Path) -> bool:
        """Save the index; return whether any article has a text."""
        texts = cls.texts(source)
        if not any(texts):
            return False
        BM25(texts, language=source.language, **source.config.bm25.options).write(folder)
        doubt = cls.doubt_about(source)
        if doubt:
            artifacts.write_json(folder / _DOUBT, doubt)
        return True

    @classmethod
    def read(cls, folder: Path, run: RunFolder, members: Sequence[DenseSignal] = ()) -> LexicalSignal:
        """Return the signal; its arrays stay on disk, memory-mapped."""
        index = BM25.read(folder, language=run.corpus.language, **run.config.bm25.options)
        return cls(index, _read_doubt(folder / _DOUBT))

    def propose(self, questions: QuestionBatch, k: int, allowed: AllowedRows | None) -> list[Proposal]:
        """Return the articles with the highest BM25 scores for each question."""
        proposals = []
        for text in questions.texts:
            scores = self.bm25.scores(text)
            proposals.append(Proposal.from_scores(scores, k, allowed, confidence=self._confidence(text, scores)))
        return proposals

    def _confidence(self, question: str, scores: np.ndarray) -> float:
        reachable = self.bm25.reachable(question) if self.doubt else 0.0
        reached = float(scores.max()) / reachable if reachable else self.own_words
        return 1 - self.doubt * (1 - min(1.0, reached / self.own_words))


class TextSignal(LexicalSignal):
    """BM25 over an article's path and text."""

    kind = name = "bm25"
    reads_text = True
    info = SignalInfo(weight=1.0, words=WORDS["bm25"])

    @staticmethod
    def texts(source: SignalSource) -> list[str]:
        """Return each article's path and text."""
        return [article_text(article) for article in source.articles]

    @staticmethod
    def doubt_about(source: SignalSource) -> float:
        """Return the doubt where an untrained encoder reads a question too: the less the more training questions have
        shown what the signals are worth."""
        untrained = any(member.kind == ZERO_SHOT for member in source.members)
        return _HALF_DOUBT_AT / (len(source.questions) + _HALF_DOUBT_AT) if untrained else 0.0


class CitingSignal(LexicalSignal):
    """BM25 over the texts that cite an article."""

    kind = name = "citing"
    own_words = 0.6
    info = SignalInfo(weight=0.5, words=WORDS["citing"])

    @staticmethod
    def texts(source: SignalSource) -> list[str]:
        """Return the titles and texts of those that cite each article."""
        rows = source.article_rows
        texts: list[list[str]] = [[] for _ in rows]
        for citing in source.citing:
            for article_id in citing.article_ids:
                if article_id in rows:
                    texts[rows[article_id]].append(f"{citing.title}\n{citing.text}")
        return ["\n".join(citing_texts) for citing_texts in texts]

    @staticmethod
    def doubt_about(source: SignalSource) -> float:
        """Return full doubt: a few texts may be about other things than a question."""
        return 1.0


def _read_doubt(path: Path) -> float:
    if not path.is_file():
        return 0.0
    with artifacts.reading(path):
        return min(1.0, max(0.0, float(json.loads(path.read_text(encoding="utf-8")))))
