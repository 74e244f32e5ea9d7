"""The rankers that a reader expects beside an ensemble, each with what is best on the dev questions: BM25 over fields,
BM25 with feedback, BM25 together with an encoder, the best signal alone, those that have learnt from questions
with equal weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.contrib.tuning.bm25_grid import TermCounts
from statgraph.encoders.article_text import PATH_SEPARATOR, article_texts
from statgraph.evaluation.metrics import DEPTH, QUALITY, question_metrics
from statgraph.law.query import Ranked, Ranks
from statgraph.law.records import Corpus
from statgraph.retrieval.lexical.bm25 import best_rows
from statgraph.retrieval.ranking.weighted_sum import AROUND, WeightedSum
from statgraph.retrieval.search.ensemble_run import read_ensemble
from statgraph.retrieval.search.retriever import Retriever
from statgraph.retrieval.signals.signal import TRAINED, Signal
from statgraph.retrieval.signals.votes import VotesSignal
from statgraph.runs.run import RunFolder
from statgraph.studies.running import Alone, CorpusRuns, PlannedRun, best_bm25
from statgraph.studies.store import RunResult
from statgraph.systems.job import TrainingOptions

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SPLIT = "dev"
_AT_ONCE = 64
_SHORT = {"k1": (0.6, 0.9, 1.2, 1.5, 2.0, 2.5, 3.5, 5.0, 8.0), "b": tuple(np.linspace(0.1, 1, 10).round(1).tolist())}
_WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # beside the text's 1
FIELDS = {"path": _WEIGHTS, "rubric": _WEIGHTS, **_SHORT}
FEEDBACK = {"articles": (2, 5, 10, 20, 40), "terms": (5, 10, 20, 40, 80, 160), "weight": (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)}
RECIPROCAL = {"k": (5, 10, 20, 60)}
RIVAL = {"k": RECIPROCAL["k"], "bm25": (0.25, 0.5, 1.0, 2.0, 4.0), "votes": (0.25, 0.5, 1.0, 2.0, 4.0)}
SUMMED = {"bm25": tuple(np.linspace(0, 1, 21).round(2).tolist())}
_COMMON, _FEW = 0.1, 10  # a term of more of the articles is no feedback, as in Anserini, unless these are few

Made = tuple[Ranks, Mapping[str, object]]  # a ranker and what dev chose for it
Score = Callable[[Sequence[str]], np.ndarray]  # from questions to (questions, articles) float32


@dataclass(frozen=True)
class Scored:
    """Ranks all articles by a function of the questions."""

    score: Score

    def rank(self, questions: Sequence[str], k: int) -> list[Ranked]:
        """Return the best `k` articles for each question, ties by row."""
        parts = (self.score(questions[start : start + _AT_ONCE]) for start in range(0, len(questions), _AT_ONCE))
        return [Ranked(rows, scores[rows]) for part in parts for scores in part for rows in [best_rows(scores, k)]]


def word_counts(corpus: Corpus, *, stop_words: bool) -> TermCounts:
    """Return how often each term occurs in each article, whole and in its path, rubric and text."""
    return TermCounts(
        article_texts(corpus.articles),
        corpus.language,
        stop_words=stop_words,
        path=[PATH_SEPARATOR.join(article.path) for article in corpus.articles],
        rubric=[article.rubric for article in corpus.articles],
        text=[article.text for article in corpus.articles],
    )


def expanded(
    words: TermCounts, asked: csr_matrix, scores: np.ndarray, *, articles: int, terms: int, weight: float
) -> csr_matrix:
    """Return the questions with the terms of their best articles, RM3 (Abdul-Jaleel et al. 2004)."""
    from scipy.sparse import csr_matrix, diags, vstack

    lines = []
    for row, by_article in enumerate(scores):
        question, best = asked[[row]], best_rows(by_article, articles)
        held = words.whole[best]
        shares = diags(by_article[best] / np.maximum(np.asarray(held.sum(axis=1)).ravel(), 1)) @ held
        model = np.asarray(shares.sum(axis=0)).ravel()
        model[words.holding > max(_FEW, _COMMON * len(by_article))] = 0
        model[np.argsort(-model, kind="stable")[terms:]] = 0
        own = question / max(float(question.sum()), 1)
        lines.append((1 - weight) * own + weight * csr_matrix(model / max(float(model.sum()), 1e-12)))
    return vstack(lines).astype(np.float32)


@dataclass(frozen=True)
class BaselineRuns(CorpusRuns):
    """The rows of a table with baselines, each over what its system trains."""

    def _carried_out(self, planned: PlannedRun, options: TrainingOptions) -> RunResult:
        if not planned.row.baseline:
            return super()._carried_out(planned, options)
        run, resumed = self.trained(planned, options)
        ranker, chosen = BASELINES[planned.row.baseline](self, run)
        return RunResult(self._metrics_of(ranker), self._about(planned, run, resumed) | {"chosen": dict(chosen)})

    def quality(self, ranker: Ranks) -> float:
        """Return the mean ranking quality of a ranker over the dev questions."""
        questions = self.corpus.split(_SPLIT)
        rankings = [each.rows for each in ranker.rank([question.text for question in questions], DEPTH)]
        labels = self.corpus.label_rows(questions)
        return float(question_metrics(rankings, labels, len(self.corpus.articles))[QUALITY].mean())

    def best(self, grid: Mapping[str, Sequence[float]], score_of: Callable[[Mapping[str, Any]], Score]) -> Made:
        """Return the ranker that is best on dev by coordinate ascent: from the middle of the grid, one parameter after
        the other takes the value that is best beside the rest, until none changes."""

        @cache
        def quality(values: tuple[float, ...]) -> float:
            return self.quality(Scored(score_of(dict(zip(grid, values, strict=True)))))

        chosen, before = tuple(values[len(values) // 2] for values in grid.values()), None
        while chosen != before:
            before = chosen
            for place, values in enumerate(grid.values()):
                beside = [(*chosen[:place], value, *chosen[place + 1 :]) for value in values]
                chosen = max([chosen, *beside], key=quality)  # the first of equals
        named = dict(zip(grid, chosen, strict=True))
        return Scored(score_of(named)), named


def _fields(runs: BaselineRuns, run: RunFolder) -> Made:
    words = word_counts(runs.corpus, stop_words=run.config.bm25.stop_words)
    grid = {name: values for name, values in FIELDS.items() if name in (*words.fields, *_SHORT)}
    return runs.best(grid, lambda chosen: _bm25(words, {"text": 1.0, **chosen}))


def _feedback(runs: BaselineRuns, run: RunFolder) -> Made:
    words = word_counts(runs.corpus, stop_words=run.config.bm25.stop_words)
    weights = words.weights(k1=run.config.bm25.k1, b=run.config.bm25.b)

    def expanding(chosen: Mapping[str, Any]) -> Score:
        def score(questions: Sequence[str]) -> np.ndarray:
            asked = words.asked(questions)
            enlarged = expanded(words, asked, (asked @ weights).toarray(), **chosen)
            scores: np.ndarray = (enlarged @ weights).toarray()
            return scores

        return score

    return runs.best(FEEDBACK, expanding)


def _fused(
    runs: BaselineRuns, run: RunFolder, grid: Mapping[str, Sequence[float]], fuse: Callable[..., np.ndarray]
) -> Made:
    tuned = best_bm25(runs.corpus, runs.store, heading_path=True, stop_words=False)
    words = word_counts(runs.corpus, stop_words=False)
    by_words, by_vectors = _bm25(words, tuned), _by_vectors(Retriever.of(run), len(runs.corpus.articles))

    @cache
    def both(questions: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        return by_words(questions), by_vectors(questions)

    best, chosen = runs.best(grid, lambda chosen: lambda questions: fuse(*both(tuple(questions)), *chosen.values()))
    return best, {**chosen, **{f"bm25.{name}": value for name, value in tuned.items()}}


def _reciprocal(runs: BaselineRuns, run: RunFolder) -> Made:
    return _fused(runs, run, RECIPROCAL, lambda one, other, k: _by_rank(one, k) + _by_rank(other, k))


def _summed(runs: BaselineRuns, run: RunFolder) -> Made:
    return _fused(runs, run, SUMMED, lambda one, other, share: share * _units(one) + (1 - share) * _units(other))


def _best_signal(runs: BaselineRuns, run: RunFolder) -> Made:
    ensemble = read_ensemble(run, len(runs.corpus.articles), device=run.config.device)
    best = max(ensemble.signals, key=lambda signal: runs.quality(Alone(signal)))
    return Alone(best), {"signal": best.name}


def _equal(runs: BaselineRuns, run: RunFolder) -> Made:
    ensemble = read_ensemble(run, len(runs.corpus.articles), device=run.config.device)
    signals = {signal.name: float(signal.info.learns) for signal in ensemble.signals}
    ensemble.ranker = WeightedSum(signals, dict.fromkeys(AROUND, 0.0))
    return ensemble, {"signals": [name for name, weight in signals.items() if weight]}


def _rival(runs: BaselineRuns, run: RunFolder) -> Made:
    """BM25, the trained encoders and the votes of an ensemble by weighted reciprocal rank fusion: what a careful user
    would make of the same trained parts."""
    signals = {
        signal: signal.name if signal.name in RIVAL else ""
        for signal in read_ensemble(run, len(runs.corpus.articles), device=run.config.device).signals
        if signal.name in RIVAL or signal.kind == TRAINED
    }

    @cache
    def ranks(signal: Signal, questions: tuple[str, ...]) -> np.ndarray:
        placed = np.full((len(questions), len(runs.corpus.articles)), np.inf, dtype=np.float32)
        for row, ranked in enumerate(Alone(signal).rank(questions, DEPTH)):
            placed[row, ranked.rows] = 1 + np.arange(len(ranked.rows))
        return placed

    def fusing(chosen: Mapping[str, Any]) -> Score:
        weights = {signal: chosen[name] if name else 1.0 for signal, name in signals.items()}

        def score(questions: Sequence[str]) -> np.ndarray:
            parts = (weight / (chosen["k"] + ranks(signal, tuple(questions))) for signal, weight in weights.items())
            fused: np.ndarray = np.sum(list(parts), axis=0)
            return fused

        return score

    return runs.best(RIVAL, fusing)


def _votes(runs: BaselineRuns, run: RunFolder) -> Made:
    signals = read_ensemble(run, len(runs.corpus.articles), device=run.config.device).signals
    return Alone(next(signal for signal in signals if signal.kind == VotesSignal.kind)), {}


# From what a row's system trains.
BASELINES: Mapping[str, Callable[[BaselineRuns, RunFolder], Made]] = {
    "fields": _fields,
    "feedback": _feedback,
    "reciprocal": _reciprocal,
    "summed": _summed,
    "rival": _rival,
    "signal": _best_signal,
    "equal": _equal,
    "votes": _votes,
}


def _bm25(words: TermCounts, parameters: Mapping[str, float]) -> Score:
    @lru_cache(maxsize=1)  # tuning makes many of these matrices, and uses each at once
    def weights() -> csr_matrix:
        return words.weights(**parameters)

    return lambda questions: (words.asked(questions) @ weights()).toarray()


def _by_vectors(retriever: Retriever, n_articles: int) -> Score:
    def score(questions: Sequence[str]) -> np.ndarray:
        scores = np.zeros((len(questions), n_articles), dtype=np.float32)
        for row, found in enumerate(retriever.rank(list(questions), n_articles)):
            scores[row, found.rows] = found.scores
        return scores

    return score


def _by_rank(scores: np.ndarray, k: int) -> np.ndarray:
    """Return 1 / (k + rank) of each question's first `DEPTH` articles, 0 of the rest (Cormack et al. 2009)."""
    fused = np.zeros_like(scores)
    for row, by_article in enumerate(scores):
        best = best_rows(by_article, DEPTH)
        fused[row, best] = 1 / (k + 1 + np.arange(len(best)))
    return fused


def _units(scores: np.ndarray) -> np.ndarray:
    """Return the scores of each question from 0, its lowest, to 1, its best."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    units: np.ndarray = (scores - low) / np.maximum(high - low, 1e-12)
    return units
