"""`python -m tools.letters RUN=CORPUS ...`: questions as they stand, with typing errors, and inside letters of some 160
words.

Of a run whose weights have learnt from dev the questions of test, else those of dev.
"""

from __future__ import annotations

import random
import re
import string
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import click

from statgraph.cli.main import run_command
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus
from statgraph.retrieval.search.ensemble_run import learnt_from
from statgraph.retrieval.search.evaluating import split_metrics
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.run import RunFolder
from statgraph.studies.rendering import table
from tools.material import read_yaml

_STORY = 8  # sentences
# How people type what they write.
TYPED: Mapping[str, Callable[[str], str]] = {
    "in letters": str,
    "wrapped at 72 columns": lambda text: textwrap.fill(text, 72),
    "with commas for full stops": lambda text: re.sub(r"[.?!] ", ", ", text),
    "in small letters, without marks": lambda text: re.sub(r"[.,;:!?]+(?=\s|$)", "", text).lower(),
    "in capitals": str.upper,
}
_METRICS = ("S@1", "S@3", "MRR@10", "mAP", "R@10")


@cache
def _parts() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return read_yaml(Path(__file__).with_suffix(".yaml"))


def has_letters(language: str) -> bool:
    """Return whether there are letters in a language, "fr"."""
    return language in _parts()


def letter(question: str, language: str) -> str:
    """Return a letter in which somebody tells eight other things and asks a question somewhere among them, the same
    for each call."""
    parts, rng = _parts()[language], random.Random(question)
    story = rng.sample(parts["story"], _STORY)
    place = rng.randint(_STORY // 3, _STORY - 1)
    return " ".join([rng.choice(parts["open"]), *story[:place], question, *story[place:], rng.choice(parts["close"])])


def in_letters(corpus: Corpus, typed: Callable[[str], str] = str) -> Corpus:
    """Return a corpus whose questions stand in letters, typed in some way."""
    return replace(
        corpus,
        questions=tuple(
            replace(question, text=typed(letter(question.text, corpus.language))) for question in corpus.questions
        ),
    )


def misspelt(question: str) -> str:
    """Return a question with a random edit in one or two of its words of five letters or more, the same for each call:
    a letter left out, added, replaced, or two that change places."""
    rng = random.Random(question)
    words = list(re.finditer(r"[^\W\d_]{5,}", question))
    for word in sorted(rng.sample(words, min(len(words), rng.choice((1, 2)))), key=re.Match.start, reverse=True):
        place, letter = word.start() + rng.randrange(1, len(word.group()) - 1), rng.choice(string.ascii_lowercase)
        first, second = question[place : place + 2]
        edited = rng.choice((second, first + letter + second, letter + second, second + first))
        question = question[:place] + edited + question[place + 2 :]
    return question


@click.command(help=__doc__)
@click.argument("runs", metavar="RUN=CORPUS...", nargs=-1, required=True)
def main(runs: tuple[str, ...]) -> None:
    """Measure runs on questions, on questions with typing errors and on letters."""
    print("\n".join(table(["law", "questions", *_METRICS], [], numbers=range(2, 2 + len(_METRICS)))))
    for text in runs:
        folder, _, name = text.partition("=")
        corpus = read_corpus(Path(name))
        if not has_letters(corpus.language):
            raise click.UsageError(f"{name}: in '{corpus.language}'; there are letters in {', '.join(_parts())}")
        retriever = Retriever.load(folder)
        split = "test" if learnt_from(RunFolder.read(folder)) == "dev" else "dev"
        errors = replace(corpus, questions=tuple(replace(each, text=misspelt(each.text)) for each in corpus.questions))
        letters = {kind: in_letters(corpus, typed) for kind, typed in TYPED.items()}
        for kind, asked in {"as they stand": corpus, "with typing errors": errors, **letters}.items():
            metrics = split_metrics(retriever, asked, split).metrics
            figures = [f"{100 * metrics[metric].mean():.1f}" for metric in _METRICS]
            print(table([f"{corpus.name}, {split}", f"{len(metrics)}, {kind}", *figures], [])[0], flush=True)


if __name__ == "__main__":
    run_command(main, "python -m tools.letters")
