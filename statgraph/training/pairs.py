"""Training pairs: texts that ask, the articles that answer them, how batches are drawn from them, in which order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.augmentation.law_questions import wordings_of
from statgraph.augmentation.store import SyntheticQuestion
from statgraph.config import Stage1Config, Stage2Config
from statgraph.law.records import PARTS, Corpus, Heading
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.training.seeding import derived_seed

_REFERENCE = PARTS[0]
_MOST_CITED = 20  # by a citing text: one that cites more asks for nothing in particular


@dataclass(frozen=True)
class PairSource:
    """Texts that ask, each with the rows of every article that answers it.

    `pairs` (pairs, 2) int64 holds (text row, article row): what training draws from. The answers of text t are
    `answers[offsets[t]:offsets[t + 1]]`, sorted.
    """

    name: str
    texts: tuple[str, ...]
    pairs: np.ndarray
    answers: np.ndarray
    offsets: np.ndarray

    def answers_of(self, text_row: int) -> np.ndarray:
        """Return the sorted article rows that answer a text."""
        return self.answers[self.offsets[text_row] : self.offsets[text_row + 1]]


def gold_pairs(corpus: Corpus) -> PairSource:
    """Return the training questions with their labelled articles, in corpus order."""
    questions = corpus.split("train")
    rows = corpus.label_rows(questions)
    return _source("gold", [question.text for question in questions], rows, rows)


def heading_pairs(corpus: Corpus) -> PairSource:
    """Return headings as questions: a heading's title, and its parent's title with it, for the articles right under it.

    Any article under a heading of the same wording, at any depth, answers too: "General provisions" occurs in many
    places, and none of them is wrong.
    """
    direct: dict[str, set[int]] = {}
    below: dict[str, set[int]] = {}
    for row, article in enumerate(corpus.articles):
        for depth in range(1, len(article.path) + 1):
            for wording in wordings_of(Heading(article.path[:depth])):
                below.setdefault(wording, set()).add(row)
                if depth == len(article.path):
                    direct.setdefault(wording, set()).add(row)
    texts = sorted(direct)
    return _source("headings", texts, [direct[text] for text in texts], [below[text] for text in texts])


def synthetic_pairs(corpus: Corpus, questions: Sequence[SyntheticQuestion]) -> PairSource:
    """Return synthetic questions with the articles that they were made for; equal texts are one question."""
    answers: dict[str, set[int]] = {}
    for question in questions:
        answers.setdefault(question.text, set()).update(corpus.article_rows[name] for name in question.article_ids)
    rows = list(answers.values())
    return _source("synthetic", list(answers), rows, rows)


def citing_pairs(corpus: Corpus) -> PairSource:
    """Return the texts that cite the law, less those of dev and test questions, with the articles that they cite.

    A reference asks with its document's title and without it, a longer text for itself. Texts that cite more than 20
    articles ask for nothing in particular and are left out; equal texts are one.
    """
    answers: dict[str, set[int]] = {}
    for citing in corpus.usable_citing():
        rows = {corpus.article_rows[name] for name in citing.article_ids if name in corpus.article_rows}
        if not rows or len(rows) > _MOST_CITED:
            continue
        wordings = {citing.text, f"{citing.title} : {citing.text}"} if citing.part == _REFERENCE else {citing.text}
        for text in sorted(wordings):
            answers.setdefault(text, set()).update(rows)
    texts = sorted(answers)
    labels = [answers[text] for text in texts]
    return _source("citing", texts, labels, labels)


def endless(pairs: np.ndarray, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield `count` pairs at a time, (count, 2) int64, without repeating one before all have come."""
    left = pairs[:0]
    while True:
        while len(left) < count:
            left = np.concatenate([left, pairs[rng.permutation(len(pairs))]])
        yield left[:count]
        left = left[count:]


def epoch_steps(n_pairs: int, batch_size: int, min_steps: int) -> int:
    """Return the number of batches of an epoch: one pass over the pairs, and more passes up to `min_steps`."""
    return max(math.ceil(n_pairs / batch_size), min_steps)


def epoch_of(
    pairs: np.ndarray, batch_size: int, rng: np.random.Generator, *, min_steps: int = 0
) -> Iterator[np.ndarray]:
    """Yield `epoch_steps` batches of (at most) `batch_size` pairs: every pair once, shuffled, then again where more
    are wanted."""
    left = epoch_steps(len(pairs), batch_size, min_steps)
    while left:
        order = rng.permutation(len(pairs))
        for start in range(0, len(pairs), batch_size):
            if not left:
                return
            yield pairs[order[start : start + batch_size]]
            left -= 1


def batch_shares(weights: Mapping[str, float], batch_size: int) -> dict[str, int]:
    """Return how many pairs of a batch each source gives: in proportion to its weight, the first one at least one where
    it has a weight, and the last one what is left over.
    """
    total = sum(weights.values())
    names = [name for name, weight in weights.items() if weight]
    sizes = dict.fromkeys(weights, 0)
    for place, name in enumerate(names):
        left = batch_size - sum(sizes.values())
        share = round(batch_size * weights[name] / total)
        sizes[name] = left if name == names[-1] else min(left, max(share, 1 if place == 0 else 0))
    return sizes


class PairMix:
    """Batches of pairs from several sources, each giving its share; an epoch is one pass over the pairs of the leading
    source, the first that has a weight.

    Args:
        sources: the pairs by name.
        config: of a stage: the weight of each source under its name, `batch_size`, `min_epoch_steps`.

    Attributes:
        sources: those that have a part in a batch, the leading one first.
        steps: batches of an epoch.
    """

    def __init__(self, sources: Mapping[str, PairSource], config: Stage1Config | Stage2Config):
        sizes = batch_shares({name: getattr(config, name) for name in sources}, config.batch_size)
        self.sources = {name: source for name, source in sources.items() if sizes[name]}
        self._sizes = sizes
        self._leading = next(iter(self.sources))
        for name, source in self.sources.items():
            if not len(source.pairs):
                raise ValueError(f"{name}: has no pairs to draw from")
        self.steps = epoch_steps(len(self.sources[self._leading].pairs), sizes[self._leading], config.min_epoch_steps)

    def epoch(self, rng: np.random.Generator, gold: np.ndarray | None = None) -> Iterator[dict[str, np.ndarray]]:
        """Yield the pairs of each source, (pairs, 2), batch by batch; the gold ones out of these where given, in as
        many steps."""
        others = {
            name: endless(source.pairs, self._sizes[name], rng)
            for name, source in self.sources.items()
            if name != self._leading
        }
        drawn_from = self.sources[self._leading].pairs if gold is None else gold
        for pairs in epoch_of(drawn_from, self._sizes[self._leading], rng, min_steps=self.steps):
            yield {self._leading: pairs} | {name: next(drawn) for name, drawn in others.items()}


def answers_among(source: PairSource, text_rows: Sequence[int] | np.ndarray, article_rows: np.ndarray) -> np.ndarray:
    """Return which of the articles answer which of the texts, (texts, articles) bool."""
    answers = np.zeros((len(text_rows), len(article_rows)), dtype=bool)
    for row, text_row in enumerate(text_rows):
        known = source.answers_of(text_row)
        places = np.minimum(np.searchsorted(known, article_rows), len(known) - 1)
        answers[row] = known[places] == article_rows
    return answers


def _source(
    name: str, texts: Sequence[str], drawn: Sequence[Iterable[int]], answers: Sequence[Iterable[int]]
) -> PairSource:
    pairs = [(text_row, row) for text_row, rows in enumerate(drawn) for row in sorted(rows)]
    return PairSource(
        name,
        tuple(texts),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array([row for rows in answers for row in sorted(rows)], dtype=np.int64),
        np.concatenate([[0], np.cumsum([len(set(rows)) for rows in answers])]).astype(np.int64),
    )


def question_order(name: str, gold: PairSource, bm25: Callable[[], BM25], seed: int) -> np.ndarray | None:
    """Return the place of each training question in the order called `name`, (questions,), the easiest first; None for
    `shuffled`, which has none. How difficult a question is, CuSINeS leaves to future work (its section on limitations).

    `lexical`: by BM25's rank of the question's best answer; a question in the law's own words is easy. `labels`: by the
    number of its answers; one that many articles answer leaves open what it asks. `random`: drawn by the seed, as a
    control for beginning with few questions. Ties by position.
    """
    if name == "shuffled":
        return None
    if name == "lexical":
        index = bm25()

        def articles_before(row: int) -> int:
            scores = index.scores(gold.texts[row])
            return int(np.count_nonzero(scores > scores[gold.answers_of(row)].max()))

        difficulty = np.array([articles_before(row) for row in range(len(gold.texts))])
    elif name == "labels":
        difficulty = np.diff(gold.offsets)
    else:
        difficulty = np.random.default_rng(derived_seed(seed, "question order")).permutation(len(gold.texts))
    return np.argsort(np.argsort(difficulty, kind="stable"))


def easiest_pairs(pairs: np.ndarray, order: np.ndarray, epoch: int, epochs: int) -> np.ndarray:
    """Return those of the (pairs, 2) gold pairs that epoch `epoch` of `epochs`, counted from 1, draws from: those of
    the easiest `epoch` / `epochs` of the questions, by their places in an order."""
    easiest: np.ndarray = pairs[order[pairs[:, 0]] < math.ceil(len(order) * epoch / epochs)]
    return easiest
