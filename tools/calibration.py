"""`python -m tools.calibration RUN=CORPUS ...`: how far the probabilities of runs are those of being labelled.

On dev the calibration is fitted again in five folds over the questions, each measured by the others. A run whose
weights have learnt from dev is measured on test, by its own, as are all with `--test`.

`--default FOLDER` fits the shipped weights of hits again, on the sample and the small laws, nothing trained, and writes
them; FOLDER has the files of the ten official acts. Those of questions stay. The sample is measured by the small laws,
a small law by the sample and the others, and RUN, of a law without questions, by all of these on the dev questions of
CORPUS.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

import click
import numpy as np

from statgraph import Corpus, artifacts, train
from statgraph.cli.main import run_command
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus
from statgraph.retrieval.ranking.calibration import Calibration, Evidence, standardised
from statgraph.retrieval.search.ensemble_run import learnt_from, read_ensemble
from statgraph.runs.run import RunFolder
from statgraph.studies.rendering import table
from statgraph.systems import calibrating
from tools.official_acts import small_laws

_OFF_TOPIC = Path(__file__).with_name("off_topic.tsv")  # none of which any calibration has seen
_BINS, _FOLDS, _DEPTH = 10, 5, 10
_DRAWS = 200
_COLUMNS = ("law", "questions", "AUROC", "ECE", "by chance", "mean probability", "answers")


@dataclass(frozen=True)
class Measured:
    """The probabilities of a law's questions, and of questions off its topic.

    Attributes:
        first: of the first hit of each question.
        answers: whether that hit answers.
        highest: of the most probable of the first ten hits of each question.
        off_topic: of the most probable hit of each question off the topic.
    """

    name: str
    first: np.ndarray
    answers: np.ndarray
    highest: np.ndarray
    off_topic: np.ndarray


@dataclass(frozen=True)
class Asked:
    """What a run knows of a law's questions, and of questions off its topic that no calibration has seen."""

    lesson: calibrating.Lesson
    off_topic: Sequence[Evidence]


def expected_calibration_error(probabilities: np.ndarray, labels: np.ndarray, bins: int = _BINS) -> float:
    """Return the mean distance between probability and share of labels over bins of equal width, by their size (Guo et
    al. 2017)."""
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    sums = np.bincount(places, probabilities - labels, minlength=bins)
    return float(np.abs(sums).sum() / len(probabilities))


def noise(probabilities: np.ndarray) -> float:
    """Return the error that probabilities without a fault would be expected to have, by chance alone."""
    rng = np.random.default_rng(0)
    draws = (rng.random(len(probabilities)) < probabilities for _ in range(_DRAWS))
    return float(np.mean([expected_calibration_error(probabilities, labels) for labels in draws]))


def auroc(above: np.ndarray, below: np.ndarray) -> float:
    """Return the share of pairs in which the first is higher; equal ones count half."""
    return float(np.mean((above[:, None] > below) + 0.5 * (above[:, None] == below)))


def off_topic_questions(language: str) -> list[str]:
    """Return small talk, questions about other countries' law and letters at random, in a language and in another."""
    rows = artifacts.read_table(_OFF_TOPIC)
    return [
        row[name]
        for name in (language if language in rows[0] else "en", "de" if language == "en" else "en")
        for row in rows
    ]


def _asked(run: RunFolder, corpus: Corpus, split: str) -> Asked:
    """Ask a run the questions of a split."""
    ensemble = read_ensemble(run, len(corpus.articles), device="cpu")
    questions = corpus.split(split)
    candidates = list(ensemble.candidates([question.text for question in questions]))
    scores = [ensemble.ranker.scores(each) for each in candidates]
    lesson = calibrating.lesson(ensemble, corpus, questions, candidates, scores, seed=run.config.seed)
    return Asked(lesson, calibrating.evidence_of(ensemble, off_topic_questions(corpus.language)))


def _measured(name: str, asked: Asked, by: Sequence[Calibration]) -> Measured:
    """Return what calibrations say of the questions, the one of a question's place modulo their number of each."""
    lesson = asked.lesson
    hits = [by[place % len(by)].probabilities(known)[:_DEPTH] for place, known in enumerate(lesson.questions)]
    return Measured(
        name,
        np.array([probabilities[0] for probabilities in hits]),
        np.array([relevant[0] for relevant in lesson.relevant]),
        np.array([probabilities.max() for probabilities in hits]),
        np.array([np.mean([one.probabilities(known).max(initial=0.0) for one in by]) for known in asked.off_topic]),
    )


def _untrained(corpus: Corpus) -> Asked:
    """Ask the dev questions of a law of which nothing is trained, of a run that is made for it."""
    with tempfile.TemporaryDirectory(prefix="statgraph-calibration-") as folder:
        train(replace(corpus, questions=(), citing=()), out=Path(folder) / "run")
        return _asked(RunFolder.read(Path(folder) / "run"), corpus, "dev")


def joined(lessons: Sequence[calibrating.Lesson]) -> calibrating.Lesson:
    """Return lessons of several laws as one, which counts as one law: cosines in each law's own units."""

    def of_laws(questions) -> list[Evidence]:
        return [
            Evidence(*standardised(known, lesson.off_topic_cosine), known.named)
            for lesson in lessons
            for known in questions(lesson)
        ]

    relevant = [hits for lesson in lessons for hits in lesson.relevant]
    parts = [of_laws(attrgetter(name)) for name in ("questions", "in_a_row", "off_topic")]
    return calibrating.Lesson(parts[0], relevant, *parts[1:])


def fit_default(acts: Path, others: Sequence[tuple[str, RunFolder, Corpus]]) -> list[Measured]:
    """Write the shipped weights; return the probabilities of each law by what has not seen it."""
    known = read_corpus(sample_folder())
    questions = tuple(replace(one, split="dev") for one in known.questions if one.split != "test")
    sample = _untrained(replace(known, questions=questions))
    small = [_untrained(law) for law in small_laws(acts)]
    shipped = Calibration.read(calibrating.DEFAULT)

    def fitted(lessons: list[calibrating.Lesson]) -> Calibration:
        fitted_on = f"questions about {1 + len(small)} laws, none of them trained on"
        return replace(calibrating.fitted(lessons, fitted_on), question=shipped.question)

    def measured(name: str, law: Asked, by: Calibration) -> Measured:
        return _measured(name, law, [replace(by, off_topic=law.lesson.off_topic_cosine)])

    lessons = [law.lesson for law in small]
    each = [
        measured("", law, fitted([sample.lesson, joined([lesson for lesson in lessons if lesson is not law.lesson])]))
        for law in small
    ]
    parts = [
        np.concatenate([getattr(law, name) for law in each]) for name in ("first", "answers", "highest", "off_topic")
    ]
    default = fitted([sample.lesson, joined(lessons)])
    default.write(calibrating.DEFAULT)
    return [
        measured("sample", sample, fitted([joined(lessons)])),
        Measured("small laws", *parts),
        *(measured(name, _asked(run, corpus, "dev"), default) for name, run, corpus in others),
    ]


def report(law: Measured) -> list[str]:
    """Return the figures of a law as a row of a table."""
    figures = (
        auroc(law.highest, law.off_topic),
        expected_calibration_error(law.first, law.answers),
        noise(law.first),
        law.first.mean(),
        law.answers.mean(),
    )
    return [law.name, str(len(law.first)), *(f"{figure:.3f}" for figure in figures)]


@click.command(help=__doc__)
@click.argument("runs", metavar="RUN=CORPUS...", nargs=-1)
@click.option("--default", "acts", metavar="FOLDER", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--test", "on_test", is_flag=True)
def main(runs: tuple[str, ...], acts: Path | None, on_test: bool) -> None:
    """Measure the calibration of runs."""
    if not runs and acts is None:
        raise click.UsageError("name a RUN=CORPUS, or --default FOLDER")
    pairs = [each.partition("=")[::2] for each in runs]
    named = [(Path(corpus).name, RunFolder.read(run), read_corpus(corpus)) for run, corpus in pairs]
    laws = [_of_run(*each, on_test=on_test) for each in named] if acts is None else fit_default(acts, named)
    print("\n".join(table(_COLUMNS, map(report, laws), numbers=range(1, len(_COLUMNS)))))


def _of_run(name: str, run: RunFolder, corpus: Corpus, *, on_test: bool) -> Measured:
    is_own = on_test or learnt_from(run) == "dev"
    split = "test" if is_own else "dev"
    asked = _asked(run, corpus, split)
    lesson = asked.lesson
    by = [Calibration.read(run.calibration)] if is_own else []
    for fold in () if is_own else range(_FOLDS):
        kept = [place for place in range(len(lesson.questions)) if place % _FOLDS != fold]
        chosen = {name: [getattr(lesson, name)[place] for place in kept] for name in ("questions", "relevant")}
        by.append(calibrating.fitted([replace(lesson, **chosen)], ""))
    return _measured(f"{name}, {split}", asked, by)


if __name__ == "__main__":
    run_command(main, "python -m tools.calibration")
