"""What a signal is: a source of candidate articles and of scores for a question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.encoders.inference.query_encoder import HeadEncoder, QueryEncoder
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.law.records import Article, CitingText, Question
from statgraph.progress import Progress, silent
from statgraph.retrieval.lexical.bm25 import BM25, best_rows

if TYPE_CHECKING:
    from statgraph.retrieval.signals.dense import DenseSignal  # which imports this module
    from statgraph.runs.run import RunFolder

# The kinds of dense signals: an untrained encoder, one that has learnt from the law alone, and one from questions.
ZERO_SHOT, FROM_LAW, TRAINED = "zero-shot", "from law", "trained"
# What signals say of an article in a reader's words: by kind, then by language.
WORDS = {row.pop("signal"): row for row in artifacts.read_table(Path(__file__).with_name("words.tsv"))}


@dataclass(frozen=True)
class SignalInfo:
    """What a kind of signal weighs, and what explanations say of it.

    Attributes:
        weight: beside the other kinds' in the sum of a law without questions, the prior of those that are learnt.
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


@dataclass
class QuestionBatch:
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
            texts, places = self._read_texts
            vectors, of_texts = base.encode_tokens(texts)
            self._encoded[id(base)], self._tokens[id(base)] = vectors[places], [of_texts[place] for place in places]
        tokens = dict(zip(self._read, self._tokens[id(base)], strict=True))
        tokens |= {place: np.concatenate([tokens[part] for part in parts]) for place, parts in self.sentences.items()}
        return [tokens[place] for place in range(len(self.texts))]

    @property
    def _read(self) -> list[int]:
        return [place for place in range(len(self.texts)) if place not in self.sentences]

    @property
    def _read_texts(self) -> tuple[list[str], list[int]]:
        """Return the texts that are read, each once, and the place among them of each of `_read`: in small letters what
        is all in capitals, a few words at least."""
        texts = (self.texts[place] for place in self._read)
        read = [text.lower() if text.isupper() and text.count(" ") > 2 else text for text in texts]
        place_of = {text: place for place, text in enumerate(dict.fromkeys(read))}
        return list(place_of), [place_of[text] for text in read]

    def _encode(self, encoder: QueryEncoder) -> np.ndarray:
        """Return the vectors of the texts that are read, (read, width) float32."""
        if id(encoder) not in self._encoded:
            if isinstance(encoder, HeadEncoder):
                self._encoded[id(encoder)] = encoder.head(self._encode(encoder.base))
            else:
                texts, places = self._read_texts
                self._encoded[id(encoder)] = encoder.encode(texts)[places]
        return self._encoded[id(encoder)]


@dataclass(frozen=True, eq=False)
class Proposal:
    """What a signal says of one question.

    Attributes:
        candidates: its best articles, best first.
        scores: from article rows, of candidates or not, to their scores, (rows,) float32, on the candidates' scale.
        floor: the score of an article that is no candidate; None where every article is one.
        confidence: what its scaled scores are multiplied by, from 0 to 1.
        absolute: whether scores are from 0 to 1 and mean the same for every question, so that they are not scaled: the
            best article of a signal that knows nothing of a question then counts little.
        best_part: from article rows to the signal's own scores for a long question or the best of its sentences, whose
            `scores` are a sum in no unit; None where `scores` are the signal's own.
    """

    candidates: Ranked
    scores: Callable[[np.ndarray], np.ndarray]
    floor: float | None = None
    confidence: float = 1.0
    absolute: bool = False
    best_part: Callable[[np.ndarray], np.ndarray] | None = None

    def own_scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of article rows on the signal's own scale, (rows,) float32."""
        return (self.best_part or self.scores)(rows)

    @classmethod
    def from_scores(
        cls,
        scores: np.ndarray,
        k: int,
        allowed: AllowedRows | None,
        *,
        confidence: float = 1.0,
        absolute: bool = False,
    ) -> Proposal:
        """Return the proposal of a signal that scores every article, (articles,) float32: the best `k` allowed ones
        above 0, ties by row."""
        rows = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed.mask)
        rows = rows[best_rows(scores[rows], k)]
        return cls(Ranked(rows, scores[rows]), scores.__getitem__, 0.0, confidence, absolute)


class Signal(ABC):
    """Finds and scores the articles of one run; a subclass states where it differs from these defaults.

    Attributes:
        kind: what it is, such as `bm25` or `trained`.
        name: what it is called in features and explanations; signals of one kind differ in it.
        info: what its kind weighs, and the words for it.
        n_articles: how many articles it was made from; None where it has nothing of its own for each.
        bm25: the index by which it counts words; None where it counts none.
        reads_text: whether that index is over the whole text of each article, and so has all the law's words.
        encoder: what makes a vector of a question, whose inner product with an article's is the score; None without.
        member: the dense signal whose encoder it shares; None without.
    """

    kind: str
    name: str
    info: SignalInfo = SignalInfo()
    n_articles: int | None = None
    bm25: BM25 | None = None
    reads_text: bool = False
    encoder: QueryEncoder | None = None
    member: DenseSignal | None = None

    @staticmethod
    def write(source: SignalSource, folder: Path) -> bool:
        """Save what it needs to an empty folder; return whether it has anything to say about this law: the folder is
        removed if not."""
        raise NotImplementedError

    @classmethod
    def read(cls, folder: Path, run: RunFolder, members: Sequence[DenseSignal]) -> Signal:
        """Return the signal that `write` saved.

        Raises:
            RunError: if it is damaged, or does not fit the run.
        """
        raise NotImplementedError

    @abstractmethod
    def propose(self, questions: QuestionBatch, k: int, allowed: AllowedRows | None) -> list[Proposal]:
        """Return the proposal for each text, of at most `k` candidates among the allowed rows (None allows all)."""


def text_bm25(signals: Sequence[Signal]) -> BM25 | None:
    """Return the BM25 index of the articles' texts that one of the signals counts words by; None without one."""
    return next((signal.bm25 for signal in signals if signal.reads_text), None)


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
        before: the signals' folder before an update, whose encoders were the same; None to read every article.
        progress: called as reading the articles goes on.
    """

    articles: Sequence[Article]
    language: str
    config: RunConfig
    questions: Sequence[Question] = ()
    citing: Sequence[CitingText] = ()
    members: Sequence[DenseSignal] = ()
    before: Path | None = None
    progress: Progress = silent

    @property
    def article_rows(self) -> dict[str, int]:
        """Return the row of each article by its id."""
        return {article.article_id: row for row, article in enumerate(self.articles)}
