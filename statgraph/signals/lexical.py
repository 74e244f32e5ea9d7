"""BM25 as a signal: over an article's path and text, over its headings alone, over the texts that cite it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from statgraph import artifacts
from statgraph.config import Bm25Config
from statgraph.encoders.article_text import PATH_SEPARATOR, article_text
from statgraph.errors import RunError, reason_of
from statgraph.lexical.bm25 import BM25
from statgraph.runs.run import Run
from statgraph.signals.signal import ZERO_SHOT, AllScores, Answer, Asked, EncodedSignal, SignalSource

# Headings are a few words long and hold each once: chosen on the dev questions of legi-fr and stard (docs/ranking.md).
_OF_HEADINGS = Bm25Config(k1=1.2, b=0.4)


# A question whose best article reaches this share of what its terms could score is in the law's own words.
_OWN_WORDS = 0.4
_HALF_DOUBT_AT = 20  # training questions
_DOUBT = "doubt.json"


class LexicalSignal:
    """BM25 over one text for each article.

    Args:
        kind: its name.
        bm25: the index.
        doubt: how little a question counts that shares hardly a word with the law, from 0 to 1 (not at all).
    """

    def __init__(self, kind: str, bm25: BM25, doubt: float = 0.0):
        self.kind = self.name = kind
        self.bm25 = bm25
        self._doubt = doubt

    def ask(self, asked: Asked) -> list[Answer]:
        """Return the BM25 scores of all articles for each question."""
        return list(map(self._answer, asked.texts))

    def _answer(self, question: str) -> Answer:
        scores = self.bm25.scores(question)
        reachable = self.bm25.reachable(question) if self._doubt else 0.0
        reached = float(scores.max()) / reachable if reachable else _OWN_WORDS
        return AllScores(scores, 1 - self._doubt * (1 - min(1.0, reached / _OWN_WORDS)))


class _LexicalType:
    """How a lexical signal is made and loaded.

    Args:
        kind: its name.
        texts: from the source to one text for each article; none at all where there is nothing to index.
        parameters: of BM25; None for those of the run.
        of_law: whether the texts are made of the articles alone.
        doubted: whether it counts less where a question shares hardly a word with the law, an encoder as it comes reads
            the question too, and few training questions have shown what the signals are worth.
    """

    def __init__(
        self,
        kind: str,
        texts: Callable[[SignalSource], Sequence[str]],
        parameters: Bm25Config | None = None,
        *,
        of_law: bool = True,
        doubted: bool = False,
    ):
        self._kind = kind
        self._texts = texts
        self._parameters = parameters
        self._of_law = of_law
        self._doubted = doubted

    def write(self, source: SignalSource, folder: Path) -> bool:
        """Save the index; return whether any article has a text."""
        made = source.of_same_law / self._kind if self._of_law and source.of_same_law is not None else None
        if made is not None and made.is_dir():
            shutil.copytree(made, folder, ignore=shutil.ignore_patterns(_DOUBT), dirs_exist_ok=True)
        else:
            texts = self._texts(source)
            if not any(texts):
                return False
            bm25 = self._parameters or source.config.bm25
            BM25(texts, language=source.language, k1=bm25.k1, b=bm25.b).write(folder)
        if self._doubted and any(member.kind == ZERO_SHOT for member in source.members):
            artifacts.write_json(folder / _DOUBT, _HALF_DOUBT_AT / (len(source.questions) + _HALF_DOUBT_AT))
        return True

    def read(self, folder: Path, run: Run, members: Sequence[EncodedSignal] = ()) -> LexicalSignal:
        """Return the signal; its arrays stay on disk, memory-mapped."""
        bm25 = self._parameters or run.config.bm25
        index = BM25.read(folder, language=run.corpus.language, k1=bm25.k1, b=bm25.b)
        return LexicalSignal(self._kind, index, _read_doubt(folder / _DOUBT))


def _read_doubt(path: Path) -> float:
    if not path.is_file():
        return 0.0
    try:
        return min(1.0, max(0.0, float(artifacts.read_json(path))))
    except (ValueError, TypeError) as error:
        raise RunError(f"{path}: not readable ({reason_of(error)}); train the run again") from None


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


TEXT = _LexicalType("bm25", _path_and_text, doubted=True)
HEADINGS = _LexicalType("headings", _headings, _OF_HEADINGS)
CITING = _LexicalType("citing", _citing_texts, of_law=False)
