"""The words of training questions, regressed on the articles that answer them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from statgraph import artifacts
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.lexical.analysis import Analyser, question_analyser
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import Proposal, QuestionBatch, Signal, SignalSource
from statgraph.retrieval.signals.votes import VotesSignal
from statgraph.runs.run import RunFolder

_RIDGE = 1.0
_MAX_QUESTIONS = 2000  # of more, every second or third: the weights are a table of questions by articles
_TERMS, _MATRIX, _WEIGHTS = "terms.json", "questions.npz", "weights.npz"


class WordingSignal(Signal):
    """Ridge regression from the words of a question to the articles that answer it, over the training questions.

    A question is the unit vector x of its terms' (1 + ln tf) * ln(n / df) among the n training questions, of matrix X
    (questions, terms). With labels Y (questions, articles), an article's score is the root of x X' (X X' + I)^-1 Y, 0
    where that is negative: questions that share rare words speak for the same articles, and questions that are alike do
    not count twice. At most 2,000 count.

    Args:
        terms: the vocabulary, each term with its column.
        idf: (terms,) float32.
        questions: X, (questions, terms) float32, sparse.
        weights: (X X' + I)^-1 Y, (questions, labelled articles) float32.
        rows: the labelled articles, (labelled,) int64.
        n_articles: of the law.
        analyse: from a text to its terms.
    """

    kind = name = "wording"
    n_articles: int
    info = VotesSignal.info  # the same reason

    def __init__(
        self,
        terms: dict[str, int],
        idf: np.ndarray,
        questions: sparse.csr_matrix,
        weights: np.ndarray,
        rows: np.ndarray,
        n_articles: int,
        analyse: Analyser,
    ):
        self._terms = terms
        self._idf = idf
        self._questions = questions
        self._weights = weights
        self._rows = rows
        self.n_articles = n_articles
        self._analyse = analyse

    @staticmethod
    def write(source: SignalSource, folder: Path) -> bool:
        """Save the regression; return whether there is a training question with a word and a label."""
        analyse = _analyser(source.language)
        questions = source.questions[:: -(-len(source.questions) // _MAX_QUESTIONS) or 1]
        texts = [analyse(question.text) for question in questions]
        terms = {term: column for column, term in enumerate(sorted({term for text in texts for term in text}))}
        row_of = source.article_rows
        labels = [[row_of[each] for each in question.article_ids if each in row_of] for question in questions]
        rows = np.array(sorted({row for question_rows in labels for row in question_rows}), dtype=np.int64)
        if not terms or not len(rows):
            return False
        counts = _counts(texts, terms)
        idf = np.log(len(texts) / counts.astype(bool).sum(axis=0).A1).astype(np.float32)
        vectors = _weighted(counts, idf)
        gold = np.zeros((len(texts), len(rows)), dtype=np.float32)
        for place, question_rows in enumerate(labels):
            gold[place, np.searchsorted(rows, question_rows)] = 1
        kernel = (vectors @ vectors.T).toarray() + _RIDGE * np.eye(len(texts), dtype=np.float32)
        weights = np.linalg.solve(kernel, gold).astype(np.float32)
        artifacts.write_json(folder / _TERMS, list(terms))
        sparse.save_npz(folder / _MATRIX, vectors)
        np.savez(folder / _WEIGHTS, idf=idf, weights=weights, rows=rows, n_articles=len(source.articles))
        return True

    @classmethod
    def read(cls, folder: Path, run: RunFolder, members: Sequence[DenseSignal] = ()) -> WordingSignal:
        """Return the signal that `write` saved.

        Raises:
            RunError: if it is damaged.
        """
        with artifacts.reading(folder):
            terms = {
                term: column for column, term in enumerate(json.loads((folder / _TERMS).read_text(encoding="utf-8")))
            }
            questions = sparse.load_npz(folder / _MATRIX).tocsr()
            with np.load(folder / _WEIGHTS, allow_pickle=False) as saved:
                idf, weights, rows, n_articles = (saved[name] for name in ("idf", "weights", "rows", "n_articles"))
            if questions.shape != (len(weights), len(terms)) or idf.shape != (len(terms),):
                raise ValueError("arrays of another size")
            if weights.shape != (len(weights), len(rows)) or not np.isfinite(weights).all():
                raise ValueError("arrays of another kind")
            if rows.dtype != np.int64 or (rows < 0).any() or (rows >= int(n_articles)).any():
                raise ValueError("labels of articles that are not there")
        return cls(terms, idf, questions, weights, rows, int(n_articles), _analyser(run.corpus.language))

    def propose(self, questions: QuestionBatch, k: int, allowed: AllowedRows | None) -> list[Proposal]:
        """Return the articles with the highest scores; those that answer no training question have 0."""
        texts = _weighted(_counts([self._analyse(text) for text in questions.texts], self._terms), self._idf)
        scores = np.zeros((len(questions.texts), self.n_articles), dtype=np.float32)
        scores[:, self._rows] = np.sqrt(np.maximum((texts @ self._questions.T) @ self._weights, 0))
        return [Proposal.from_scores(text_scores, k, allowed, absolute=True) for text_scores in scores]


def _analyser(language: str) -> Analyser:
    return question_analyser(language, stop_words=False)


def _counts(texts: Sequence[Sequence[str]], terms: dict[str, int]) -> sparse.csr_matrix:
    """Return how often each text holds each term, (texts, terms) float32."""
    columns = [[terms[term] for term in text if term in terms] for text in texts]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.array([column for text in columns for column in text], dtype=np.int64)
    counts = sparse.csr_matrix((np.ones(len(flat), dtype=np.float32), flat, ends), shape=(len(texts), len(terms)))
    counts.sum_duplicates()
    return counts


def _weighted(counts: sparse.csr_matrix, idf: np.ndarray) -> sparse.csr_matrix:
    """Return unit vectors of (1 + ln tf) * idf; of a text without a known term the zero vector."""
    weights = (1 + np.log(counts.data)) * idf[counts.indices]
    text = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))  # of each weight
    lengths = np.sqrt(np.bincount(text, np.square(weights), minlength=counts.shape[0]))
    weights = (weights / np.maximum(lengths, 1e-12)[text]).astype(np.float32)
    return sparse.csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape)
