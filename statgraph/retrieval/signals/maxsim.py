"""Late interaction: each word of a question with the word of an article that it lies nearest to."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np
from threadpoolctl import ThreadpoolController

from statgraph import artifacts
from statgraph.encoders.article_text import text_hashes
from statgraph.encoders.inference.query_encoder import HeadEncoder
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.law.structure import gathered
from statgraph.progress import counted
from statgraph.retrieval.signals.centring import units
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import (
    TRAINED,
    WORDS,
    ZERO_SHOT,
    Proposal,
    QuestionBatch,
    Signal,
    SignalInfo,
    SignalSource,
)
from statgraph.runs.run import RunFolder

_MAX_ARTICLES = 5_000  # some 55 kB each
_COMPARED = 100  # articles, the nearest by their one vector
_AT_ONCE = 256  # texts in memory with the vectors of their tokens
_BLAS, _ONE_PRODUCT = ThreadpoolController().select(user_api="blas"), Lock()
_TOKENS, _PLACES = "tokens.npy", "places.npz"


class MaxSimSignal(Signal):
    """The mean over a question's tokens of the cosine of the nearest token of an article (Khattab and Zaharia 2020,
    equation 3, by the number of tokens), both as the untrained transformer gives them.

    Only the 100 articles are compared that are nearest by the vectors of the zero-shot member: all others have the
    lowest score of these.

    Args:
        tokens: of all articles one after another, (tokens, width) int8.
        scales: (tokens,) float32: times a token's components they are a vector of length 1.
        starts: (articles + 1,) int64: where an article's tokens begin, and the next one's.
        member: whose transformer reads the question.
    """

    kind = name = "maxsim"
    member: DenseSignal
    info = SignalInfo(weight=2.0, words=WORDS["maxsim"])

    def __init__(self, tokens: np.ndarray, scales: np.ndarray, starts: np.ndarray, member: DenseSignal):
        self._tokens = tokens
        self._scales = scales
        self._starts = starts
        self.n_articles = len(starts) - 1
        self.member = member

    @staticmethod
    def write(source: SignalSource, folder: Path) -> bool:
        """Save the articles' tokens; return whether these are few enough, and the run's transformers have learnt
        nothing from questions."""
        member = _untrained_transformer(source.members)
        if member is None or len(source.articles) > _MAX_ARTICLES:
            return False
        encoder = member.encoder
        assert isinstance(encoder, HeadEncoder)  # of `_untrained_transformer`
        # The headings further up are the same for many articles, and would be near every word of a question on them.
        texts = ["\n".join(filter(None, (a.path[-1], a.rubric, a.text))) for a in source.articles]
        hashes = text_hashes(texts)
        saved = {} if source.before is None else _saved(source.before / MaxSimSignal.name)
        of_texts = {row: saved[key.tobytes()] for row, key in enumerate(hashes) if key.tobytes() in saved}
        new = [row for row in range(len(texts)) if row not in of_texts]
        report = counted(source.progress, "reading articles word by word")
        for start in range(0, len(new), _AT_ONCE):
            rows = new[start : start + _AT_ONCE]
            vectors = encoder.base.passage_tokens([texts[row] for row in rows])
            of_texts |= {row: _rounded(units(of_text)) for row, of_text in zip(rows, vectors, strict=True)}
            report(start + len(rows), len(new))
        tokens, scales = zip(*(of_texts[row] for row in range(len(texts))), strict=True)
        starts = np.cumsum([0, *map(len, tokens)])
        np.save(folder / _TOKENS, np.concatenate(tokens), allow_pickle=False)
        np.savez(folder / _PLACES, scales=np.concatenate(scales), starts=starts, texts=hashes)
        return True

    @classmethod
    def read(cls, folder: Path, run: RunFolder, members: Sequence[DenseSignal]) -> MaxSimSignal:
        """Return the signal that `write` saved; the tokens stay on disk, memory-mapped.

        Raises:
            RunError: if it is damaged, or the run has other members than those that it was made with.
        """
        with artifacts.reading(folder):
            tokens = np.load(folder / _TOKENS, mmap_mode="r", allow_pickle=False)
            with np.load(folder / _PLACES, allow_pickle=False) as saved:
                scales, starts = saved["scales"], saved["starts"]
            member = _untrained_transformer(members)
            if member is None or tokens.dtype != np.int8 or tokens.ndim != 2 or len(scales) != len(tokens):
                raise ValueError("arrays of another kind, or no untrained transformer to read questions")
            if starts.dtype != np.int64 or starts[-1] != len(tokens) or (np.diff(starts) < 1).any():
                raise ValueError("other tokens than their places say")
        return cls(tokens, scales, starts, member)

    def propose(self, questions: QuestionBatch, k: int, allowed: AllowedRows | None) -> list[Proposal]:
        """Return the nearest articles by their tokens, of those that are nearest by their vectors."""
        encoder = self.member.encoder
        assert isinstance(encoder, HeadEncoder)  # of `_untrained_transformer`
        tokens = questions.tokens(encoder)  # before the vectors, so that the texts are read once
        nearest = self.member.propose(questions, _COMPARED, allowed)
        return [self._proposal(*pair, k) for pair in zip(tokens, nearest, strict=True)]

    def _proposal(self, tokens: np.ndarray, nearest: Proposal, k: int) -> Proposal:
        compared = np.sort(nearest.candidates.rows)
        similarities = self.similarity(tokens, compared)

        def scores(rows: np.ndarray) -> np.ndarray:
            if not len(compared):
                return np.zeros(len(rows), dtype=np.float32)
            places = np.minimum(np.searchsorted(compared, rows), len(compared) - 1)
            return np.where(compared[places] == rows, similarities[places], similarities.min())

        order = np.argsort(-similarities, kind="stable")[:k]
        return Proposal(Ranked(compared[order], similarities[order]), scores)

    def similarity(self, question: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the similarity of a question's tokens (tokens, width) to those of articles, (rows,) float32."""
        if not len(rows):
            return np.empty(0, dtype=np.float32)
        tokens, places = gathered((self._starts, self._tokens), rows)
        scales, _ = gathered((self._starts, self._scales), rows)
        centred = units(question) - self.member.centre.token
        # On one thread: those of BLAS and ONNX Runtime, which wait by spinning, would take turns on the same cores.
        # Their number is the process's, so that one product at a time sets it and puts it back.
        with _ONE_PRODUCT, _BLAS.limit(limits=1):
            cosines = centred @ tokens.astype(np.float32).T * scales  # (question's tokens, articles' tokens)
        nearest = np.maximum.reduceat(cosines, np.searchsorted(places, np.arange(len(rows))), axis=1)
        similarities: np.ndarray = nearest.mean(axis=0)
        return similarities


def _rounded(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of length 1 (tokens, width) as int8, and what each is to be multiplied by."""
    scales = np.abs(vectors).max(axis=1) / np.iinfo(np.int8).max
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def _saved(folder: Path) -> dict[bytes, tuple[np.ndarray, np.ndarray]]:
    """Return the tokens and scales that a run has of each text, by its hash; none without its folder."""
    if not folder.is_dir():
        return {}
    with artifacts.reading(folder), np.load(folder / _PLACES, allow_pickle=False) as places:
        tokens = np.load(folder / _TOKENS, mmap_mode="r", allow_pickle=False)
        spans, scales = itertools.pairwise(places["starts"].tolist()), places["scales"]
        return {
            key.tobytes(): (tokens[start:end], scales[start:end])
            for key, (start, end) in zip(places["texts"], spans, strict=True)
        }


def _untrained_transformer(members: Sequence[DenseSignal]) -> DenseSignal | None:
    """Return the member of an untrained transformer; None without one, or beside one that has learnt: it knows more."""
    transformers = [member for member in members if isinstance(member.encoder, HeadEncoder)]
    if any(member.kind == TRAINED for member in transformers):
        return None
    return next((member for member in transformers if member.kind == ZERO_SHOT), None)
