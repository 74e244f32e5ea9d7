"""BM25 as a signal: over an article's path and text, over its headings alone, over the texts that cite it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from statgraph.config import Bm25Config
from statgraph.encoders.article_text import PATH_SEPARATOR, article_text
from statgraph.lexical.bm25 import BM25
from statgraph.runs.run import Run
from statgraph.signals.signal import AllScores, Answer, Asked, EncodedSignal, SignalSource

# Headings are a few words long and hold each once: chosen on the dev questions of legi-fr and stard (docs/ranking.md).
_OF_HEADINGS = Bm25Config(k1=1.2, b=0.4)


class LexicalSignal:
    """BM25 over one text for each article."""

    def __init__(self, kind: str, bm25: BM25):
        self.kind = self.name = kind
        self.bm25 = bm25

    def ask(self, asked: Asked) -> list[Answer]:
        """Return the BM25 scores of all articles for each question."""
        return [AllScores(self.bm25.scores(question)) for question in asked.texts]


class _LexicalType:
    """How a lexical signal is made and loaded.

    Args:
        kind: its name.
        texts: from the source to one text for each article; none at all where there is nothing to index.
        parameters: of BM25; None for those of the run.
    """

    def __init__(self, kind: str, texts: Callable[[SignalSource], Sequence[str]], parameters: Bm25Config | None = None):
        self._kind = kind
        self._texts = texts
        self._parameters = parameters

    def write(self, source: SignalSource, folder: Path) -> bool:
        """Save the index; return whether any article has a text."""
        texts = self._texts(source)
        if not any(texts):
            return False
        bm25 = self._parameters or source.config.bm25
        BM25(texts, language=source.language, k1=bm25.k1, b=bm25.b).write(folder)
        return True

    def read(self, folder: Path, run: Run, members: Sequence[EncodedSignal] = ()) -> LexicalSignal:
        """Return the signal; its arrays stay on disk, memory-mapped."""
        bm25 = self._parameters or run.config.bm25
        return LexicalSignal(self._kind, BM25.read(folder, language=run.corpus.language, k1=bm25.k1, b=bm25.b))


def _path_and_text(source: SignalSource) -> list[str]:
    return [article_text(article) for article in source.articles]


def _headings(source: SignalSource) -> list[str]:
    # An article that stands in its code with no heading between is found by its text.
    return [PATH_SEPARATOR.join(article.path[1:]) for article in source.articles]


def _citing_texts(source: SignalSource) -> list[str]:
    rows = {article.article_id: row for row, article in enumerate(source.articles)}
    texts: list[list[str]] = [[] for _ in rows]
    for citing in source.citing:
        for article_id in citing.article_ids:
            if article_id in rows:
                texts[rows[article_id]].append(f"{citing.title}\n{citing.text}")
    return ["\n".join(of_article) for of_article in texts]


TEXT = _LexicalType("bm25", _path_and_text)
HEADINGS = _LexicalType("headings", _headings, _OF_HEADINGS)
CITING = _LexicalType("citing", _citing_texts)
