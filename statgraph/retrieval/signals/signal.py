"""What a signal is: a source of candidate articles and of scores for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.encoders.inference.query_encoder import HeadEncoder, QueryEncoder
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.law.records import Article, CitingText, Question
from statgraph.progress import Progress, silent
from statgraph.retrieval.lexical.bm25 import best_rows

# The kinds of dense signals: an untrained encoder, one that has learnt from the law alone, and one from questions.
ZERO_SHOT, FROM_LAW, TRAINED = "zero-shot", "from law", "trained"
# What signals say of an article in a reader's words: by kind, then by language.
WORDS = {row.pop("signal"): row for row in artifacts.read_table(Path(__file__).with_name("words.tsv"))}


@dataclass(frozen=True)
class SignalInfo:
    """What a kind of signal weighs, and what explanations say of it.

    Attributes:
        weight: in the fixed ranker's sum; those of the built-in signals were chosen on the dev questions of legi-fr
            and the sample together (docs/ranking.md has the tables).
        learns: whether it has learnt from questions, and so weighs by how many these were.
        saved: whether it has files of its own in a run, and so is there only where its folder is.
        named: whether other signals say the same, so that a line for those who know them gives the name too.
        words: what it says of an article, in a reader's words, by the language of the page; those that say the same are
            one reason on the page.
    """

    weight: float = 0.3
    learns: bool = False
    saved: bool = True
    named: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    def label(self, name: str) -> str:
        """Return the English words for a signal of a name as they stand within a line; without words, its name."""
        words = self.words.get("en", "")
        return (words[:1].lower() + words[1:] + f", by {name}" * self.named) if words else name


def signal_info(signal: Signal | type[Signal]) -> SignalInfo:
    """Return what a signal's class says of its kind; the defaults for an installed package's that says nothing."""
    return getattr(signal, "info", SignalInfo())


@dataclass
class Asked:
    """The texts of one search and, once a signal needs them, their vectors.

    Attributes:
        texts: questions, and the sentences that are read of long ones.
        sentences: the places of the sentences of a long question, by its own. Its vector is the mean of theirs, by
            length: an encoder takes as long for a text as for its parts, and reads only the beginning of a long one.
    """

    texts: Sequence[str]
    sentences: Mapping[int, range] = field(default_factory=dict)
    _encoded: dict[int, np.ndarray] = field(default_factory=dict)
    _tokens: dict[int, list[np.ndarray]] = field(default_factory=dict)

    def vectors(self, encoder: QueryEncoder) -> np.ndarray:
        """Return what an encoder makes of the texts, (texts, width) float32; computed once."""
        encoded = self._encode(encoder)
        if not self.sentences:
            return encoded
        vectors = np.empty((len(self.texts), encoded.shape[1]), dtype=np.float32)
        vectors[self._read] = encoded
        for place, parts in self.sentences.items():
            mean = np.average(vectors[parts], axis=0, weights=[len(self.texts[part]) for part in parts])
            vectors[place] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return vectors

    def tokens(self, encoder: HeadEncoder) -> list[np.ndarray]:
        """Return the vectors of each text's tokens, (tokens, width) float32, by the transformer below an encoder, which
        reads the texts once for these and for `vectors`, if asked for these first."""
        base = encoder.base
        if id(base) not in self._tokens:
            self._encoded[id(base)], self._tokens[id(base)] = base.encode_tokens(self._read_texts)
        tokens = dict(zip(self._read, self._tokens[id(base)], strict=True))
        tokens |= {place: np.concatenate([tokens[part] for part in parts]) for place, parts in self.sentences.items()}
        return [tokens[place] for place in range(len(self.texts))]

    @property
    def _read(self) -> list[int]:
        return [place for place in range(len(self.texts)) if place not in self.sentences]

    @property
    def _read_texts(self) -> list[str]:
        """Return the texts that are read: in small letters what is all in capitals, a few words at least."""
        texts = (self.texts[place] for place in self._read)
        return [text.lower() if text.isupper() and text.count(" ") > 2 else text for text in texts]

    def _encode(self, encoder: QueryEncoder) -> np.ndarray:
        """Return the vectors of the texts that are read, (read, width) float32."""
        if id(encoder) not in self._encoded:
            if isinstance(encoder, HeadEncoder):
                self._encoded[id(encoder)] = encoder.head(self._encode(encoder.base))
            else:
                self._encoded[id(encoder)] = encoder.encode(self._read_texts)
        return self._encoded[id(encoder)]


class Answer(Protocol):
    """What a signal says of one question.

    Attributes:
        floor: the score of an article that is no candidate; None where every article is one.
        confidence: what its scaled scores are multiplied by, from 0 to 1.
    """

    floor: float | None
    confidence: float

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        """Return its best candidates, at most `k`.

        `allowed` is the rows to choose from; None is all.
        """

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of these articles, (rows,) float32, on the scale of `best`."""


class Signal(Protocol):
    """Finds and scores the articles of one run.

    Attributes:
        kind: what it is, such as `bm25` or `trained`.
        name: what it is called in features and explanations; signals of one kind differ in it.

    A class may have an `info` too, a `SignalInfo`.
    """

    kind: str
    name: str

    def ask(self, asked: Asked) -> list[Answer]:
        """Return the answer to each question."""


class EncodedSignal(Signal, Protocol):
    """A signal whose questions become vectors, of so many components."""

    encoder: QueryEncoder
    width: int


@dataclass(frozen=True)
class SignalSource:
    """What signals are made from.

    Attributes:
        articles: the law.
        language: ISO 639-1 code.
        config: the configuration of the run.
        questions: the training questions; their labels are articles of the law.
        citing: the citing texts that may be used.
        members: the dense signals of the run.
        reuse_from: the signals folder of a run of the same articles and settings, from which indexes of the articles
            alone are copied; None to make them.
        progress: called as reading the articles goes on.
    """

    articles: Sequence[Article]
    language: str
    config: RunConfig
    questions: Sequence[Question] = ()
    citing: Sequence[CitingText] = ()
    members: Sequence[EncodedSignal] = ()
    reuse_from: Path | None = None
    progress: Progress = silent


class AllScores:
    """An answer that has the score of every article: (articles,) float32. Articles of score 0 are no candidates."""

    floor = 0.0

    def __init__(self, scores: np.ndarray, confidence: float = 1.0):
        self._scores = scores
        self.confidence = confidence

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        """Return the best `k` that score above 0, ties by row."""
        candidates = np.flatnonzero(self._scores > 0 if allowed is None else (self._scores > 0) & allowed.mask)
        rows = candidates[best_rows(self._scores[candidates], k)]
        return Ranked(rows, self._scores[rows])

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of these articles."""
        return self._scores[rows]
