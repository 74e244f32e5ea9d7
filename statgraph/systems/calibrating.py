"""Fitting the calibration of an ensemble, once its ranker is ready: what a hit's probability means.

Both parts of a `Calibration` are logistic regressions (Platt 1999). Whether a question is about this law is learnt from
the dev questions, alone and several in a row, against questions off its topic, counted as equally many:
`off_topic.tsv`, in the law's language and in another one, alone and joined to the same lengths, and the letters of the
dev questions shuffled.
Whether a hit answers is learnt from the first twenty hits of each dev question, ranked by what has not seen it, and its
labels; labels are seldom complete, so that a probability is one of being labelled, and low rather than high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.law.records import Corpus, Question
from statgraph.retrieval.ranking.calibration import HIT_EVIDENCE, QUESTION_EVIDENCE, Calibration, Evidence, standardised
from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.runs.run import RunFolder
from statgraph.systems.job import Job

DEFAULT = Path(__file__).with_name("default_calibration.json")
HITS = 20  # of a question that are learnt from
_ENOUGH = 30  # dev questions with an answer among these hits; with fewer, the default is used
_OFF_TOPIC = Path(__file__).with_name("off_topic.tsv")
_MADE = 32  # questions that are made, of each kind
_LONGEST = 1000  # characters of several questions in a row
_LEAST_SPREAD = 0.01  # of their cosines; where they hardly differ, a hair's breadth would be a thousand units
_OTHER_LANGUAGE = "en", "fr"  # the second for a law in the first


def calibrate(
    job: Job, run: RunFolder, ensemble: Ensemble, dev_candidates: Sequence[Candidates], dev_scores: Sequence[np.ndarray]
) -> None:
    """Fit the calibration of an ensemble, write it and give it to the ensemble.

    With fewer than 30 dev questions that have an answer among their first hits, the weights are those of
    `default_calibration.json`, fitted on several laws; what is off the topic is measured on this law all the same.
    Without vectors or without BM25 there is none.

    Args:
        dev_scores: of the candidates of each dev question, by what has not learnt from it.
    """
    if not ensemble.has_evidence:
        return
    questions = job.corpus.split("dev")
    of_law = lesson(ensemble, job.corpus, questions, dev_candidates, dev_scores, seed=run.config.seed)
    if sum(hits[:HITS].any() for hits in of_law.relevant) >= _ENOUGH:
        ensemble.calibration = fitted([of_law], f"{len(questions)} dev questions")
    else:
        ensemble.calibration = replace(Calibration.read(DEFAULT), off_topic=of_law.off_topic_cosine)
        job.options.announce(
            "probabilities as fitted on other laws: they order hits and questions, their level may be wrong; "
            f"{_ENOUGH} labelled dev questions set it"
        )
    ensemble.calibration.write(run.calibration)


@dataclass(frozen=True)
class Lesson:
    """What a calibration learns from one law.

    Attributes:
        questions: the evidence of its questions.
        relevant: which hits of each answer it, (candidates,) bool.
        in_a_row: the evidence of several questions in a row.
        off_topic: the evidence of questions that the law does not answer.
    """

    questions: Sequence[Evidence]
    relevant: Sequence[np.ndarray]
    in_a_row: Sequence[Evidence]
    off_topic: Sequence[Evidence]

    @property
    def off_topic_cosine(self) -> tuple[float, float]:
        """Return `Calibration.off_topic`."""
        nearest = [known.question[QUESTION_EVIDENCE.index("nearest")] for known in self.off_topic]
        return float(np.mean(nearest)), max(float(np.std(nearest)), _LEAST_SPREAD)


def lesson(
    ensemble: Ensemble,
    corpus: Corpus,
    questions: Sequence[Question],
    candidates: Sequence[Candidates],
    scores: Sequence[np.ndarray],
    *,
    seed: int,
) -> Lesson:
    """Return what a calibration learns from a law by the candidates of its questions, as scored."""
    known = [
        ensemble.evidence(question.text, own, values)
        for question, own, values in zip(questions, candidates, scores, strict=True)
    ]
    relevant = [
        np.isin(own.ranked(values), rows)
        for own, values, rows in zip(candidates, scores, corpus.label_rows(questions), strict=True)
    ]
    texts = [question.text for question in questions]
    off_topic = off_topic_questions(corpus.language, texts, np.random.default_rng(seed))
    several = in_a_row(texts, np.random.default_rng(seed)) if texts else []
    return Lesson(known, relevant, evidence_of(ensemble, several), evidence_of(ensemble, off_topic))


def evidence_of(ensemble: Ensemble, questions: Sequence[str]) -> list[Evidence]:
    """Return the evidence of questions, as the ensemble ranks them."""
    return [
        ensemble.evidence(question, candidates, ensemble.ranker.scores(candidates))
        for question, candidates in zip(questions, ensemble.candidates(questions), strict=True)
    ]


def fitted(lessons: Sequence[Lesson], fitted_on: str) -> Calibration:
    """Return the calibration of one or more laws, all counted alike; `off_topic` is that of the last."""
    about: list[np.ndarray] = []
    is_about: list[bool] = []
    about_weights: list[float] = []
    hits: list[np.ndarray] = []
    answers: list[np.ndarray] = []
    hit_weights: list[float] = []
    for of_law in lessons:
        unit = of_law.off_topic_cosine
        for group, label in (([*of_law.questions, *of_law.in_a_row], True), (of_law.off_topic, False)):
            about += (standardised(known, unit)[0] for known in group)
            is_about += [label] * len(group)
            about_weights += [1.0 / len(group)] * len(group)
        first = [standardised(known, unit)[1][:HITS] for known in of_law.questions]
        hits += first
        answers += (hits_of_one[:HITS] for hits_of_one in of_law.relevant)
        n_hits = sum(map(len, first))
        hit_weights += [1.0 / n_hits] * n_hits
    question = _logistic(QUESTION_EVIDENCE, np.stack(about), np.array(is_about), np.array(about_weights))
    hit = _logistic(HIT_EVIDENCE, np.concatenate(hits), np.concatenate(answers), np.array(hit_weights))
    return Calibration(question, hit, unit, fitted_on)


def _logistic(names: Sequence[str], values: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    """Return the weight of each name and the bias of a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    mean, std = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-9)
    model = LogisticRegression(max_iter=1000).fit(
        (values - mean) / std, labels, sample_weight=weights * len(weights) / weights.sum()
    )
    slopes = model.coef_[0] / std
    bias = float(model.intercept_[0] - slopes @ mean)
    return {name: float(slope) for name, slope in zip(names, slopes, strict=True)} | {"bias": bias}


def off_topic_questions(language: str, questions: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return questions that the law of a language does not answer: the shipped ones, these in a row as long as
    `in_a_row` of its own questions, and the letters of its own questions shuffled."""
    rows = artifacts.read_table(_OFF_TOPIC)
    other = next(name for name in _OTHER_LANGUAGE if name != language)
    own = [row.get(language, row[other]) for row in rows]
    texts, made = questions or own, []
    for model in in_a_row(texts, rng):
        joined = " ".join(own[place] for place in rng.permutation(len(own)))
        cut = joined.find(" ", len(model))
        made += [joined[: cut if cut > 0 else None], _shuffled(texts[int(rng.integers(len(texts)))], rng)]
    return [*own, *(row[other] for row in rows), *made]


def in_a_row(questions: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return texts of one to eight questions each, several of at most 1,000 characters: long ones about the law."""
    texts = []
    for place in range(_MADE):
        several = [questions[drawn] for drawn in rng.integers(len(questions), size=1 + place % 8)]
        while len(several) > 1 and sum(map(len, several)) > _LONGEST:
            several.pop()
        texts.append(" ".join(several))
    return texts


def _shuffled(text: str, rng: np.random.Generator) -> str:
    """Return a text of at most 100 characters with its letters shuffled, the spaces where they were."""
    text = text[:100].strip()
    letters = iter(rng.permutation([letter for letter in text if not letter.isspace()]))
    return "".join(letter if letter.isspace() else next(letters) for letter in text)
