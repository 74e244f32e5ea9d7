"""`python -m tools.learning_curve CORPUS`: what more questions to learn from are worth.

A run gets so many of the training questions, a fifth of them as its dev split; the dev questions of the corpus, which
it has not seen, measure it.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from statgraph import Run, train
from statgraph.cli.main import run_command
from statgraph.law.records import MAIN_SET, Corpus
from statgraph.law.store import read_corpus

_COUNTS = (0, 25, 50, 100, 200, 400, 800, 1600)
_METRICS = ("R@100", "mAP", "MRR@10", "S@1", "S@3")
_DEV_SHARE = 5  # one in five


def with_questions(corpus: Corpus, count: int, seed: int = 0) -> Corpus:
    """Return a corpus with so many of the training questions of the main set, a fifth of them as dev, and the dev
    questions as test. More questions include fewer of the same seed."""
    known = list(corpus.split("train"))
    random.Random(seed).shuffle(known)
    learnt = [
        replace(question, split="train" if place % _DEV_SHARE else "dev")
        for place, question in enumerate(known[:count], start=1)
    ]
    asked = [replace(question, split="test") for question in corpus.split("dev")]
    return replace(corpus, questions=(*learnt, *asked))


@click.command(help=__doc__)
@click.argument("folder", metavar="CORPUS", type=click.Path(path_type=Path))
@click.option("--count", "counts", type=int, multiple=True, default=_COUNTS, help="Questions; repeatable.")
@click.option("--seed", default=0, help="Of the questions and of training.")
@click.option("--fast", is_flag=True, help="Leave transformers out.")
def main(folder: Path, counts: tuple[int, ...], seed: int, fast: bool) -> None:
    """Train on more and more questions and print a row for each number."""
    corpus = read_corpus(folder)
    most = len(corpus.split("train", MAIN_SET))
    print(f"| {corpus.name}: questions | {' | '.join(_METRICS)} |\n| ---: |{' ---: |' * len(_METRICS)}")
    for count in sorted({min(count, most) for count in counts}):
        fewer = with_questions(corpus, count, seed)
        with tempfile.TemporaryDirectory() as out:
            run: Run = train(fewer, fast=fast, seed=seed, out=Path(out) / "run")
            metrics = run.evaluate("test").metrics
        figures = (f"{100 * metrics[name]:.1f}" if name in metrics else "-" for name in _METRICS)
        print(f"| {count} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    run_command(main, "python -m tools.learning_curve")
