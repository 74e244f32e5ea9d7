"""The probability that an article answers a question, from evidence that is comparable across questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.signals.citation import CitationSignal

QUESTION_EVIDENCE = ("coverage", "nearest")
HIT_EVIDENCE = ("score", "margin", "gap", "rank", "agreement", "cosine")
_FOLLOWING = 5  # hits that a hit's margin is over
_TOP = 10  # places of a signal's own ranking in which it agrees


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of a question and of its hits, best first.

    Attributes:
        question: (2,) float64, as `QUESTION_EVIDENCE`: the share of its terms that the law's texts have, by rarity; the
            cosine of the article nearest to it or, if it is long, to one of its sentences. Both are unscaled: low for
            small talk and for letters at random.
        hits: (hits, 6) float64, as `HIT_EVIDENCE`: the ranker's score; how far it is
            above the mean of the next five, and below the best; log(1 + hits before it); the share of the signals with
            it among their first ten; its own cosine.
        named: (hits,) float64: 1 for an article that the question names by its number, 1/2, 1/3 ... for others of that
            number, else 0.
    """

    question: np.ndarray
    hits: np.ndarray
    named: np.ndarray


def evidence(candidates: Candidates, scores: np.ndarray, *, coverage: float, dense: str) -> Evidence:
    """Return the evidence of all candidates, by score.

    Args:
        candidates: those of a question.
        scores: (candidates,) of the ranker.
        coverage: of the question's terms by the law's texts, as `BM25.coverage` has it.
        dense: the name of the signal whose scores are cosines.
    """
    order = np.argsort(-scores, kind="stable")
    signals = candidates.signals
    raw, own = candidates.raw[:, order], candidates.own[:, order]  # (signals, candidates)
    cosines = own[signals.index(dense)].astype(np.float64)
    tenth = -np.sort(-raw, axis=1)[:, min(_TOP, raw.shape[1]) - 1] if raw.size else np.zeros(len(raw))
    agree = (raw > 0) & (raw >= tenth[:, None])
    ranked = scores[order].astype(np.float64)
    places = np.arange(len(ranked))
    sums = np.concatenate([[0.0], np.cumsum(ranked)])
    last = np.minimum(places + 1 + _FOLLOWING, len(ranked))
    following = np.where(last > places + 1, (sums[last] - sums[places + 1]) / np.maximum(last - places - 1, 1), ranked)
    gap = ranked[:1] - ranked
    share = agree.sum(axis=0) / max(1, agree.any(axis=1).sum())
    hits = np.stack([ranked, ranked - following, gap, np.log1p(places), share, cosines], axis=1)
    named = own[signals.index(CitationSignal.name)] if CitationSignal.name in signals else np.zeros(len(ranked))
    return Evidence(np.array([coverage, cosines.max(initial=0.0)]), hits, np.clip(named, 0.0, 1.0))


@dataclass(frozen=True)
class Calibration:
    """P(answers) = P(the question is about this law) * P(the hit answers it | it is): two logistic regressions. A hit
    that the question names is at least as probable as `Evidence.named`.

    Attributes:
        question: the weights of `QUESTION_EVIDENCE`, and `bias`.
        hit: the weights of `HIT_EVIDENCE`, and `bias`.
        off_topic: mean and standard deviation of the cosine of the article nearest to questions that the law does not
            answer: cosines are counted in these units from that mean, which encoders and laws share.
        fitted_on: in words.
    """

    question: Mapping[str, float]
    hit: Mapping[str, float]
    off_topic: tuple[float, float]
    fitted_on: str

    def probabilities(self, evidence: Evidence) -> np.ndarray:
        """Return the probability that each hit answers the question, (hits,) float64."""
        question, hits = standardised(evidence, self.off_topic)
        about = _sigmoid(question @ [self.question[name] for name in QUESTION_EVIDENCE] + self.question["bias"])
        answers = _sigmoid(hits @ [self.hit[name] for name in HIT_EVIDENCE] + self.hit["bias"])
        probabilities: np.ndarray = np.maximum(about * answers, evidence.named)
        return probabilities

    def write(self, path: Path) -> None:
        """Write the calibration as JSON."""
        artifacts.write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Calibration:
        """Return the calibration that `write` saved.

        Raises:
            RunError: if the file is damaged.
        """
        with artifacts.reading(path):
            saved = artifacts.read_json(path)
            question, hit = (
                {name: float(saved[part][name]) for name in (*names, "bias")}
                for part, names in (("question", QUESTION_EVIDENCE), ("hit", HIT_EVIDENCE))
            )
            mean, std = map(float, saved["off_topic"])
            if not np.isfinite([mean, std, *question.values(), *hit.values()]).all() or std <= 0:
                raise ValueError("weights that are no numbers")
            return cls(question, hit, (mean, std), str(saved["fitted_on"]))


def standardised(evidence: Evidence, off_topic: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the evidence of a question and of its hits, with the cosines in the units of `Calibration.off_topic`."""
    mean, std = off_topic
    question, hits = evidence.question.copy(), evidence.hits.copy()
    for values, names, name in ((question, QUESTION_EVIDENCE, "nearest"), (hits, HIT_EVIDENCE, "cosine")):
        values[..., names.index(name)] = (values[..., names.index(name)] - mean) / std
    return question, hits


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    probabilities: np.ndarray = 1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0)))
    return probabilities
