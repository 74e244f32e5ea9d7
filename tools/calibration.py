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
from statgraph.law.store import read_corpus
from statgraph.retrieval.ranking.calibration import Calibration, Evidence, standardised
from statgraph.retrieval.search.ensemble_run import learnt_from, read_ensemble
from statgraph.runs.run import RunFolder
from statgraph.studies.rendering import table
from statgraph.systems import calibrating
from tools.official_acts import small_laws

_SAMPLE = Path(__file__).parents[1] / "data" / "sample"
_OFF_TOPIC = Path(__file__).with_name("off_topic.tsv")  # none of which any calibration has seen
_BINS, _FOLDS, _DEPTH = 10, 5, 10
_DRAWS = 200
_IN_A_ROW, _ROWS = (3, 6), 40  # how many questions are asked at once, and how often
_COLUMNS = (
    "law", "questions", "AUROC", "own language", "three", "six", "ECE, best", "by chance", "19 of 20 below",
    "ECE, first 10", "by chance", "mean, best", "answers, best",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The probabilities of a law's questions, and of questions off its topic.

    Attributes:
        hits: (questions, up to 10) of each question's first hits.
        relevant: which of them answer.
        off_topic: of the most probable hit of each question off the topic, those in the law's language first, and then
            as many in another.
        in_a_row: of the most probable hit of several questions at once, about the law and off its topic, for each of
            `_IN_A_ROW`.
    """

    name: str
    hits: list[np.ndarray]
    relevant: list[np.ndarray]
    off_topic: np.ndarray
    in_a_row: Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Asked:
    """What a run knows of a law's questions, of questions off its topic that no calibration has seen, and of several
    of either at once, for each of `_IN_A_ROW`."""

    lesson: calibrating.Lesson
    off_topic: Sequence[Evidence]
    in_a_row: Sequence[tuple[Sequence[Evidence], Sequence[Evidence]]]


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
    off_topic, texts = off_topic_questions(corpus.language), [question.text for question in questions]
    pools, rng = (texts, off_topic[: len(off_topic) // 2]), np.random.default_rng(0)
    several = [
        [
            calibrating.evidence_of(
                ensemble,
                [" ".join(pool[place] for place in rng.integers(len(pool), size=n)) for _ in range(_ROWS)],
            )
            for pool in pools
        ]
        for n in _IN_A_ROW
    ]
    return Asked(lesson, calibrating.evidence_of(ensemble, off_topic), [(about, off) for about, off in several])


def _measured(name: str, asked: Asked, by: Sequence[Calibration]) -> Measured:
    """Return what calibrations say of the questions, the one of a question's place modulo their number of each."""

    def most_probable(questions: Sequence[Evidence]) -> np.ndarray:
        return np.array([np.mean([one.probabilities(known).max(initial=0.0) for one in by]) for known in questions])

    lesson = asked.lesson
    return Measured(
        name,
        [by[place % len(by)].probabilities(known)[:_DEPTH] for place, known in enumerate(lesson.questions)],
        [relevant[:_DEPTH] for relevant in lesson.relevant],
        most_probable(asked.off_topic),
        [(most_probable(about), most_probable(off)) for about, off in asked.in_a_row],
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
    known = read_corpus(_SAMPLE)
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
    laws = [measured("sample", sample, fitted([joined(lessons)]))]
    each = [
        measured("", law, fitted([sample.lesson, joined([lesson for lesson in lessons if lesson is not law.lesson])]))
        for law in small
    ]
    hits, relevant = ([one for law in each for one in getattr(law, name)] for name in ("hits", "relevant"))
    own, other = zip(*(np.split(law.off_topic, 2) for law in each), strict=True)
    in_a_row = [
        tuple(map(np.concatenate, zip(*pairs, strict=True)))
        for pairs in zip(*(law.in_a_row for law in each), strict=True)
    ]
    laws.append(Measured("small laws", hits, relevant, np.concatenate([*own, *other]), in_a_row))
    default = fitted([sample.lesson, joined(lessons)])
    laws += [measured(name, _asked(run, corpus, "dev"), default) for name, run, corpus in others]
    default.write(calibrating.DEFAULT)
    return laws


def report(measured: Measured) -> list[str]:
    """Return the figures of a law as a row of a table."""
    best, labels = np.array([hits[0] for hits in measured.hits]), np.array([hits[0] for hits in measured.relevant])
    hits, relevant = np.concatenate(measured.hits), np.concatenate(measured.relevant)
    most = np.array([values.max() for values in measured.hits])
    figures = (
        auroc(most, measured.off_topic),
        auroc(most, measured.off_topic[: len(measured.off_topic) // 2]),
        *(auroc(about, off) for about, off in measured.in_a_row),
        expected_calibration_error(best, labels),
        *noise(best),
        expected_calibration_error(hits, relevant),
        noise(hits)[0],
        best.mean(),
        labels.mean(),
    )
    return [measured.name, str(len(best)), *(f"{figure:.3f}" for figure in figures)]


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
