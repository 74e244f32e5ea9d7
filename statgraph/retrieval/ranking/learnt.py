"""LambdaMART over the candidates' features (Burges 2010), by LightGBM, on top of the fixed ranker's score."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph import artifacts
from statgraph.config import RankerConfig
from statgraph.errors import damaged_run
from statgraph.retrieval.ranking.features import Features, direction
from statgraph.retrieval.ranking.fixed import FixedRanker

if TYPE_CHECKING:
    import lightgbm

_FOLDS, _FOLDS_OF_MANY, _MANY = 5, 3, 300  # folds over the questions; of many, fewer folds show as much
MIN_QUESTIONS = 10  # that trees learn from
_STEP = 20  # trees between two looks at the held-out questions
FIRSTS = 3  # hits that trees may leave first
_AHEAD = 1e-3  # by which these are above the others
_TRUNCATION = 100  # places of the ranking whose order counts in training
_COMPARED = 400  # candidates of a question that trees learn from beside its answers: the best by the fixed ranker


class LambdaMartRanker:
    """Score = the fixed ranker's + the trees'.

    The trees begin from the fixed score and learn its corrections: the fewer they are, the more of it stays.
    Their score never falls where a signal's rises. The booster is LightGBM's, over all features. Where the ranker
    `keeps_first`, the three best by the fixed one stay above all others, in the order of the trees: long lists gain by
    trees more often than first hits do.
    """

    kind = "lambdamart"

    def __init__(self, fixed: FixedRanker, booster: lightgbm.Booster, *, keeps_first: bool = False):
        self._fixed = fixed
        self._booster = booster
        self.keeps_first = keeps_first

    def scores(self, candidates: Features) -> np.ndarray:
        """Return the score of each candidate, (candidates,) float32."""
        if not len(candidates.rows):
            return np.zeros(0, dtype=np.float32)
        fixed, trees = self._fixed.scores(candidates), self._booster.predict(candidates.values, num_threads=1)
        scores = (fixed + trees).astype(np.float32)
        return _with_first(scores, fixed) if self.keeps_first else scores

    def contributions(self, candidates: Features) -> np.ndarray:
        """Return what each feature adds to the score and, last, the trees' mean, which every candidate is given,
        (candidates, features + 1) float32: in the trees by SHAP values (Lundberg et al. 2020)."""
        if not len(candidates.rows):
            return self._fixed.contributions(candidates)
        trees: np.ndarray = self._booster.predict(candidates.values, pred_contrib=True, num_threads=1)
        return self._fixed.contributions(candidates) + trees.astype(np.float32)

    def keeping_first(self) -> LambdaMartRanker:
        """Return the ranker with the fixed one's three best left first."""
        return LambdaMartRanker(self._fixed, self._booster, keeps_first=True)

    def write(self, path: Path) -> None:
        """Write the trees as LightGBM's text."""
        artifacts.write_text(path, self._booster.model_to_string())

    @classmethod
    def read(cls, path: Path, fixed: FixedRanker, n_features: int, *, keeps_first: bool = False) -> LambdaMartRanker:
        """Return the ranker that `write` saved.

        Raises:
            RunError: if the file is missing or damaged, or the trees are of other features.
        """
        import lightgbm

        with artifacts.reading(path):
            booster = lightgbm.Booster(model_str=path.read_text(encoding="utf-8"))
        if booster.num_feature() != n_features:
            raise damaged_run(
                f"{path}: trees over {booster.num_feature()} features, where the run's signals have {n_features}"
            )
        return cls(fixed, booster, keeps_first=keeps_first)


@dataclass(frozen=True, eq=False)
class Learning:
    """What learning a ranker came to.

    Attributes:
        ranker: over all questions; None where no number of trees was better than none.
        trees: how many it has.
        held_out: for each question the candidates' scores by trees that have not seen it; those of the fixed ranker
            where there are no trees.
        gain: how much the held-out questions gained by the measure of `learn`, and its standard error.
    """

    ranker: LambdaMartRanker | None
    trees: int
    held_out: list[np.ndarray]
    gain: tuple[float, float]


# From each question's ranked rows to the value of each question, (questions,) float64: the measure to maximise.
Measure = Callable[[list[np.ndarray]], np.ndarray]


def learn(
    candidates: Sequence[Features],
    labels: Sequence[Sequence[int]],
    fixed: FixedRanker,
    config: RankerConfig,
    measure: Measure,
    *,
    groups: Sequence[int],
    seed: int,
) -> Learning:
    """Return a LambdaMART ranker, with the number of trees that was best for held-out questions, and with the fixed
    ranker's three best left first where that was better.

    In folds over the questions. Trees are kept only if their gain is more than its standard error, and if at least ten
    questions have a relevant candidate: fewer show nothing. `config.kind` lambdamart keeps them anyway.

    Args:
        candidates: the features of each question's candidates, by signals that have not seen the question's labels.
        labels: the rows of the articles that answer each.
        fixed: the ranker to begin from.
        config: of the trees.
        measure: the measure to maximise.
        groups: of the questions; those of one group, such as all about one document, are held out together.
        seed: of the folds and the trees.
    """
    base, relevant = _scores_and_labels(candidates, labels, fixed)
    force_trees = config.kind == LambdaMartRanker.kind
    answerable = np.array([bool(hits.any()) for hits in relevant])
    if answerable.sum() < (2 if force_trees else MIN_QUESTIONS):
        return Learning(None, 0, base, (0.0, 0.0))
    fold = _folds(answerable, np.asarray(groups), _FOLDS if len(candidates) < _MANY else _FOLDS_OF_MANY, seed)
    if not fold.any():  # one group has all that can be learnt from
        return Learning(None, 0, base, (0.0, 0.0))
    parameters = _parameters(config, candidates[0].names, seed)
    by_trees = {count: list(base) for count in range(0, config.trees + 1, _STEP)}
    for held_out in range(1 + int(fold.max())):
        others, places = np.flatnonzero(fold != held_out).tolist(), np.flatnonzero(fold == held_out).tolist()
        booster = _booster(candidates, relevant, base, others, parameters, config.trees)
        fold_features = np.concatenate([candidates[place].values for place in places])
        ends = np.cumsum([len(candidates[place].rows) for place in places])[:-1]
        scores = np.concatenate([base[place] for place in places]).astype(np.float64)
        for count in range(_STEP, config.trees + 1, _STEP):
            scores += booster.predict(fold_features, start_iteration=count - _STEP, num_iteration=_STEP)
            for place, question_scores in zip(places, np.split(scores.copy(), ends), strict=True):
                by_trees[count][place] = question_scores
    ways = {(count, False): scores for count, scores in by_trees.items()}
    ways |= {
        (count, True): [_with_first(own, fixed_own) for own, fixed_own in zip(scores, base, strict=True)]
        for count, scores in by_trees.items()
        if count
    }
    values = {way: measure(ranked(candidates, scores)) for way, scores in ways.items()}
    chosen = max((way for way in values if way[0] or not force_trees), key=lambda way: (values[way].mean(), -way[0]))
    best, keeps_first = chosen
    gain = _gain(values[chosen] - values[0, False])
    if not force_trees and (not best or gain[0] <= gain[1]):
        return Learning(None, 0, base, gain)
    ranker = with_trees(candidates, labels, fixed, config, best, keeps_first=keeps_first, seed=seed)
    return Learning(ranker, best, ways[chosen], gain)


def keeping_first(learning: Learning, candidates: Sequence[Features], fixed: FixedRanker, measure: Measure) -> Learning:
    """Return what was learnt from these candidates with the fixed ranker's three best left first; the fixed ranker
    alone where the trees then do not gain more than the standard error."""
    base = [fixed.scores(features) for features in candidates]
    held_out = [_with_first(own, fixed_own) for own, fixed_own in zip(learning.held_out, base, strict=True)]
    gain = _gain(measure(ranked(candidates, held_out)) - measure(ranked(candidates, base)))
    if learning.ranker is None or gain[0] <= gain[1]:
        return Learning(None, 0, base, gain)
    return replace(learning, ranker=learning.ranker.keeping_first(), held_out=held_out, gain=gain)


def _gain(differences: np.ndarray) -> tuple[float, float]:
    return float(differences.mean()), float(differences.std() / np.sqrt(max(1, len(differences))))


def with_trees(
    candidates: Sequence[Features],
    labels: Sequence[Sequence[int]],
    fixed: FixedRanker,
    config: RankerConfig,
    trees: int,
    *,
    keeps_first: bool = False,
    seed: int,
) -> LambdaMartRanker:
    """Return a LambdaMART ranker with so many trees, over all questions; the rest is as in `learn`. At least one
    question must have a relevant candidate."""
    base, relevant = _scores_and_labels(candidates, labels, fixed)
    parameters = _parameters(config, candidates[0].names, seed)
    booster = _booster(candidates, relevant, base, range(len(candidates)), parameters, trees)
    return LambdaMartRanker(fixed, booster, keeps_first=keeps_first)


def _with_first(scores: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Return the scores, (candidates,), with the three best by the fixed scores raised, all alike, above the others."""
    if len(scores) <= FIRSTS:
        return scores
    first = np.zeros(len(scores), dtype=bool)
    first[np.argsort(-fixed, kind="stable")[:FIRSTS]] = True
    lead = scores[~first].max() - scores[first].min()
    return scores if lead < 0 else np.where(first, scores + lead + _AHEAD, scores).astype(scores.dtype)


def _scores_and_labels(
    candidates: Sequence[Features], labels: Sequence[Sequence[int]], fixed: FixedRanker
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return (the fixed scores of each question's candidates, which of them are relevant)."""
    relevant = [np.isin(features.rows, rows) for features, rows in zip(candidates, labels, strict=True)]
    return [fixed.scores(features) for features in candidates], relevant


def _folds(answerable: np.ndarray, groups: np.ndarray, max_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each question, (questions,) int64: at most `max_folds`, each with an answerable question."""
    names, group = np.unique(groups, return_inverse=True)
    has_answerable = np.zeros(len(names), dtype=bool)
    np.logical_or.at(has_answerable, group, answerable)
    order = np.random.default_rng(seed).permutation(len(names))
    n_folds = max(1, min(max_folds, has_answerable.sum()))
    group_fold = np.empty(len(names), dtype=np.int64)
    group_fold[order[np.argsort(~has_answerable[order], kind="stable")]] = np.arange(len(names)) % n_folds
    return group_fold[group]


def ranked(candidates: Sequence[Features], scores: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return each question's candidate rows by score, best first."""
    return [
        features.rows[np.argsort(-values, kind="stable")] for features, values in zip(candidates, scores, strict=True)
    ]


def _booster(
    candidates: Sequence[Features],
    relevant: Sequence[np.ndarray],
    base: Sequence[np.ndarray],
    places: Sequence[int],
    parameters: Mapping[str, object],
    trees: int,
) -> lightgbm.Booster:
    import lightgbm

    kept = {place: _compared(base[place], relevant[place]) for place in places if relevant[place].any()}
    data = lightgbm.Dataset(
        np.concatenate([candidates[place].values[rows] for place, rows in kept.items()]),
        np.concatenate([relevant[place][rows] for place, rows in kept.items()]),
        group=list(map(len, kept.values())),
        init_score=np.concatenate([base[place][rows] for place, rows in kept.items()]),
        feature_name=[re.sub(r"\W+", "_", "/".join(name)) for name in candidates[0].names],
    )
    return lightgbm.train(dict(parameters), data, trees)


def _compared(base: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Return the places of the candidates that are learnt from, ascending, of their fixed scores and which answer."""
    best = np.argsort(-base, kind="stable")[:_COMPARED]
    return np.union1d(best, np.flatnonzero(relevant))


def _parameters(config: RankerConfig, names: Sequence[tuple[str, str]], seed: int) -> Mapping[str, object]:
    return {
        "objective": "lambdarank",
        "label_gain": [0, 1],
        "lambdarank_truncation_level": _TRUNCATION,
        "learning_rate": config.lr,
        "num_leaves": config.leaves,
        "min_data_in_leaf": config.leaf_size,
        "feature_fraction": config.feature_share,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "monotone_constraints": [direction(name) for name in names],
        "verbosity": -1,
    }
