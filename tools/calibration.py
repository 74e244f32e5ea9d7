"""`python -m tools.calibration RUN=CORPUS ...`: how far the probabilities of runs are those of being labelled.

On dev the calibration is fitted again in five folds over the questions, each measured by the others. A run whose trees
have learnt from dev is measured on test, by its own, as are all with `--test`. `--default` measures untrained runs (all
of a law's questions are dev) instead, each by a calibration of the others, and writes that of all of them as the one
that is shipped.
`--diagram FILE` draws the reliability of the best hits.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

from statgraph.corpus.store import read_corpus
from statgraph.ranking.calibration import Calibration
from statgraph.ranking.ensemble import Ensemble
from statgraph.runs.run import Run
from statgraph.search.ensemble_run import learnt_from, read_ensemble
from statgraph.systems import calibrating

_OFF_TOPIC = Path(__file__).with_name("off_topic.tsv")  # none of which any calibration has seen
_BINS, _FOLDS, _DEPTH = 10, 5, 10
_DRAWS = 200
_COLUMNS = (
    "law", "questions", "AUROC", "own language", "ECE, best", "by chance", "19 of 20 below", "ECE, first 10",
    "by chance", "mean, best", "answers, best",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The probabilities of a law's questions, and of questions off its topic.

    Attributes:
        hits: (questions, up to 10) of each question's first hits.
        relevant: which of them answer.
        off_topic: of the most probable hit of each question off the topic, those in the law's language first, and then
            as many in another.
    """

    name: str
    hits: list[np.ndarray]
    relevant: list[np.ndarray]
    off_topic: np.ndarray

    @property
    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability of each question's first hit, and whether it answers."""
        return np.array([hits[0] for hits in self.hits]), np.array([hits[0] for hits in self.relevant])


def expected_calibration_error(probabilities: np.ndarray, labels: np.ndarray, bins: int = _BINS) -> float:
    """Return the mean distance between probability and share of labels over bins of equal width, by their size (Guo et
    al. 2017)."""
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    sums = np.bincount(places, probabilities - labels, minlength=bins)
    return float(np.abs(sums).sum() / len(probabilities))


def noise(probabilities: np.ndarray) -> tuple[float, float]:
    """Return the error that probabilities without a fault would be expected to have, by chance alone, and the one that
    it would exceed once in twenty times."""
    rng = np.random.default_rng(0)
    draws = (rng.random(len(probabilities)) < probabilities for _ in range(_DRAWS))
    errors = [expected_calibration_error(probabilities, labels) for labels in draws]
    return float(np.mean(errors)), float(np.quantile(errors, 0.95))


def auroc(above: np.ndarray, below: np.ndarray) -> float:
    """Return the share of pairs in which the first is higher; equal ones count half."""
    return float(np.mean((above[:, None] > below) + 0.5 * (above[:, None] == below)))


def off_topic_questions(language: str) -> list[str]:
    """Return small talk, questions about other countries' law and letters at random, in a language and in another."""
    with _OFF_TOPIC.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [
        row[name]
        for name in (language if language in rows[0] else "en", "de" if language == "en" else "en")
        for row in rows
    ]


def _ensemble_and_lesson(run: Run, folder: str, split: str) -> tuple[Ensemble, calibrating.Lesson, str]:
    corpus = read_corpus(folder)
    ensemble = read_ensemble(run, len(corpus.articles), device="cpu")
    questions = corpus.split(split)
    candidates = list(ensemble.features([question.text for question in questions]))
    scores = [ensemble.ranker.scores(features) for features in candidates]
    lesson = calibrating.lesson(ensemble, corpus, questions, candidates, scores, seed=run.config.seed)
    return ensemble, lesson, corpus.language


def _measured(
    name: str, ensemble: Ensemble, lesson: calibrating.Lesson, language: str, by: list[Calibration]
) -> Measured:
    """Return what calibrations say of the questions, the one of a question's place modulo their number of each."""
    off_topic = calibrating.evidence_of(ensemble, off_topic_questions(language))
    return Measured(
        name,
        [by[place % len(by)].probabilities(known)[:_DEPTH] for place, known in enumerate(lesson.questions)],
        [relevant[:_DEPTH] for relevant in lesson.relevant],
        np.array([np.mean([one.probabilities(known).max(initial=0.0) for one in by]) for known in off_topic]),
    )


def _without(lesson: calibrating.Lesson, fold: int) -> calibrating.Lesson:
    kept = [place for place in range(len(lesson.questions)) if place % _FOLDS != fold]
    return replace(
        lesson,
        questions=[lesson.questions[place] for place in kept],
        relevant=[lesson.relevant[place] for place in kept],
    )


def report(measured: Measured) -> str:
    """Return the figures of a law as a row of a table."""
    best, labels = measured.best
    hits, relevant = np.concatenate(measured.hits), np.concatenate(measured.relevant)
    most = np.array([values.max() for values in measured.hits])
    figures = (
        auroc(most, measured.off_topic),
        auroc(most, measured.off_topic[: len(measured.off_topic) // 2]),
        expected_calibration_error(best, labels),
        *noise(best),
        expected_calibration_error(hits, relevant),
        noise(hits)[0],
        best.mean(),
        labels.mean(),
    )
    return f"| {measured.name} | {len(best)} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"


def draw(laws: list[Measured], path: Path) -> None:
    """Draw the reliability of the best hits of each law: the share that answers over the mean probability of a bin."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(laws), 2.9), layout="constrained")
    for axes, law in zip(np.atleast_1d(figure.subplots(1, len(laws), sharey=True)), laws, strict=True):
        best, labels = law.best
        places = np.minimum((best * _BINS).astype(int), _BINS - 1)
        filled = [place for place in range(_BINS) if (places == place).any()]
        sizes = np.array([(places == place).sum() for place in filled])
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        axes.scatter(
            [best[places == place].mean() for place in filled],
            [labels[places == place].mean() for place in filled],
            s=6 + 200 * sizes / sizes.sum(),
        )
        axes.set(title=law.name, xlabel="probability", xlim=(0, 1), ylim=(0, 1))
    figure.axes[0].set_ylabel("share that answers")
    figure.savefig(path, metadata={"Date": None})


@click.command(help=__doc__)
@click.argument("runs", metavar="RUN=CORPUS...", nargs=-1, required=True)
@click.option("--default", "is_default", is_flag=True)
@click.option("--test", "on_test", is_flag=True)
@click.option("--diagram", type=click.Path(path_type=Path))
def main(runs: tuple[str, ...], is_default: bool, on_test: bool, diagram: Path | None) -> None:
    """Measure the calibration of runs."""
    known = []
    for text in runs:
        folder, _, corpus = text.partition("=")
        run = Run.read(folder)
        split = "test" if on_test or learnt_from(run) == "dev" else "dev"
        known.append((f"{Path(corpus).name}, {split}", run, *_ensemble_and_lesson(run, corpus, split)))
    laws = []
    for name, run, ensemble, lesson, language in known:
        if is_default:
            others = calibrating.fitted([other for _, _, _, other, _ in known if other is not lesson], "")
            by = [replace(others, off_topic=lesson.off_topic_cosine)]
        elif not on_test and learnt_from(run) != "dev":
            by = [calibrating.fitted([_without(lesson, fold)], "") for fold in range(_FOLDS)]
        else:
            by = [Calibration.read(run.calibration)]
        laws.append(_measured(name, ensemble, lesson, language, by))
    print(f"| {' | '.join(_COLUMNS)} |\n| --- |{' ---: |' * (len(_COLUMNS) - 1)}")
    print("\n".join(map(report, laws)))
    if diagram is not None:
        draw(laws, diagram)
    if is_default:
        fitted_on = f"questions about {len(known)} laws, none of them trained on"
        calibrating.fitted([lesson for _, _, _, lesson, _ in known], fitted_on).write(calibrating.DEFAULT)


if __name__ == "__main__":
    main()
