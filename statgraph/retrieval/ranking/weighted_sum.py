"""The ranker: a weighted sum of an article's scaled signals and of the best sums around it, learnt from questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.signals.citation import CitationSignal
from statgraph.retrieval.signals.signal import Signal

# What stands around an article, in the order of `Candidates.around`: the best under its heading, of those that cite it,
# of those that it cites.
SECTION, CITED_BY, CITES = AROUND = "section", "cited_by", "cites"
_AROUND = {SECTION: 0.3, CITED_BY: 0.1, CITES: 0.1}
_NAMED = 2.0  # the weight of what a question names, where the other signals' weights add up to 1
_HALF_AT = 100  # training questions at which a signal that has learnt from them has half of its kind's weight
_SHARPNESS = 8.0  # of the softmax of scores
_COMPARED = 50  # candidates of a question that weights are learnt from, the best by the weights before
_STRENGTH = 50.0  # of the prior
_ROUNDS = 3  # of learning, each from the candidates and the sums around them by the weights of the one before


@dataclass(frozen=True)
class WeightedSum:
    """Score = total + the sum over what stands around an article of weight * the best total there; an article's total =
    the sum over signals of weight * scaled score.

    Attributes:
        signals: the weight of each signal by name, in the order of `Candidates.signals`.
        around: the weight of each of `AROUND`.
    """

    signals: Mapping[str, float]
    around: Mapping[str, float]

    @property
    def signal_weights(self) -> np.ndarray:
        """Return the weights of the signals, (signals,) float32."""
        return np.array(list(self.signals.values()), dtype=np.float32)

    def totals(self, candidates: Candidates) -> np.ndarray:
        """Return the sum of the signals for each candidate, (candidates,) float32."""
        totals: np.ndarray = (self.signal_weights[:, None] * candidates.scaled).sum(axis=0)  # equal for equal scores
        return totals

    def scores(self, candidates: Candidates) -> np.ndarray:
        """Return the score of each candidate, (candidates,) float32; higher is better."""
        totals = self.totals(candidates)
        scores: np.ndarray = totals + (self._around_weights[:, None] * candidates.around(totals)).sum(axis=0)
        return scores

    def terms(self, candidates: Candidates) -> dict[str, np.ndarray]:
        """Return the terms of the sum by signal and by what stands around an article, each (candidates,) float32."""
        around = candidates.around(self.totals(candidates))
        own = zip(self.signals, self.signal_weights[:, None] * candidates.scaled, strict=True)
        return dict(own) | dict(zip(AROUND, self._around_weights[:, None] * around, strict=True))

    @property
    def _around_weights(self) -> np.ndarray:
        return np.array([self.around[name] for name in AROUND], dtype=np.float32)


def prior(signals: Sequence[Signal], n_questions: int) -> WeightedSum:
    """Return the sum of a law without questions to learn weights from.

    A signal that has learnt from n questions weighs n / (n + 100) of its kind's weight: with a few, an untrained
    encoder knows more.
    """
    share = n_questions / (n_questions + _HALF_AT)
    kinds = {signal.name: signal.info for signal in signals}
    return _scaled({name: info.weight * (share if info.learns else 1) for name, info in kinds.items()}, _AROUND)


def learnt(before: WeightedSum, candidates: Sequence[Candidates], labels: Sequence[Sequence[int]]) -> WeightedSum:
    """Return the weights that a prior and questions decide together.

    They minimise the sum over the questions of the cross entropy of the softmax of 8 * score over the 50 best
    candidates and of those among these that answer, all alike, and 50 * the squared distance from the prior's weights,
    where none is negative (by L-BFGS-B). The loss is convex while the 50 and the sums around them stay the same: they
    are those of the weights before, three times over. What a question names keeps its
    weight, and what the prior leaves out stays out.

    Args:
        before: the prior.
        candidates: those of each question, by signals that have not seen its labels.
        labels: the rows of the articles that answer each.
    """
    names = [*before.signals, *AROUND]
    centre = np.array([*before.signals.values(), *(before.around[name] for name in AROUND)])
    stays = [name == CitationSignal.name or not weight for name, weight in zip(names, centre, strict=True)]
    bounds = [
        (weight, weight if stay else None) if stay else (0, None) for weight, stay in zip(centre, stays, strict=True)
    ]
    weights = before
    for _ in range(_ROUNDS):
        values, targets = [], []
        for each, rows in zip(candidates, labels, strict=True):
            best = np.argsort(-weights.scores(each), kind="stable")[:_COMPARED]
            answers = np.isin(each.rows[best], rows)
            if answers.any():
                values.append(np.vstack([each.scaled, each.around(weights.totals(each))])[:, best])
                targets.append(answers / answers.sum())
        if not values:
            return before
        found = dict(zip(names, _minimised(values, targets, centre, bounds).tolist(), strict=True))
        weights = _scaled({name: found[name] for name in before.signals}, {name: found[name] for name in AROUND})
    return weights


def _minimised(
    values: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    centre: np.ndarray,
    bounds: Sequence[tuple[float, float | None]],
) -> np.ndarray:
    """Return the weights of least loss, as in `learnt`, (terms,).

    Args:
        values: the terms of each question's candidates, (terms, candidates).
        targets: what the softmax of each question's scores should be, (candidates,).
        centre: the prior's weights.
        bounds: of each weight.
    """
    from scipy.optimize import minimize

    terms, target = np.hstack(values).astype(np.float64), np.concatenate(targets)
    counts = [len(each) for each in targets]
    starts, question = np.cumsum([0, *counts[:-1]]), np.repeat(np.arange(len(counts)), counts)
    wanted = terms @ target

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = _SHARPNESS * (weights @ terms)
        scores -= np.maximum.reduceat(scores, starts)[question]
        sums = np.add.reduceat(np.exp(scores), starts)
        softmax = np.exp(scores) / sums[question]
        away = weights - centre
        entropy = float(np.log(sums).sum() - target @ scores)
        return entropy + _STRENGTH * away @ away, _SHARPNESS * (terms @ softmax - wanted) + 2 * _STRENGTH * away

    weights: np.ndarray = minimize(loss, centre, jac=True, method="L-BFGS-B", bounds=bounds).x
    return weights


def _scaled(signals: Mapping[str, float], around: Mapping[str, float]) -> WeightedSum:
    """Return the sum whose signals add up to 1, but for what a question names, which outweighs them."""
    total = sum(weight for name, weight in signals.items() if name != CitationSignal.name) or 1.0
    shares = {name: _NAMED if name == CitationSignal.name else weight / total for name, weight in signals.items()}
    return WeightedSum(shares, around)
