"""Ten acts in the official formats of eight publishers: import, train without questions, ask what people would ask.

    python -m tools.official_acts FOLDER

FOLDER holds the acts' files, which are not part of the project; official_acts.yaml names them and has the questions.
Writes the table of docs/official-acts.md.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from statgraph import Corpus, import_corpus, train
from statgraph.artifacts import write_text
from statgraph.cli.main import run_command
from statgraph.law.records import Question
from statgraph.retrieval.search.hits import Hit
from statgraph.studies.rendering import table
from tools.material import DOCS, read_yaml, with_tables

QUESTIONS = Path(__file__).with_suffix(".yaml")
_LAWS = Path(__file__).parents[1] / "tests" / "laws"
_WRITTEN = "household-services", "vereine"
PAGE = DOCS / "official-acts.md"
SHOWN = 3
SYSTEMS = ("bm25", "ensemble")


def is_answer(hit: Hit, numbers: Iterable[str]) -> bool:
    """Return whether a hit is an article of one of these numbers, and not one in a schedule."""
    number = re.sub(r"^[^\d第]+", "", hit.number)
    return number in numbers and not any(heading.lower().startswith("schedule") for heading in hit.path[1:])


def ranks(corpus: Corpus, system: str, questions: Sequence[tuple[str, Sequence[str]]], folder: Path) -> list[int]:
    """Return the rank of each question's first answer among the first ten hits of a run; 0 if it is not there."""
    retriever = train(corpus, system, out=folder).retriever()
    found = []
    for question, numbers in questions:
        hits = retriever.search(question, k=10, as_of="always")
        found.append(next((hit.rank for hit in hits if is_answer(hit, numbers)), 0))
    return found


def measured(entry: Mapping[str, Any], folder: Path) -> tuple[list[str], dict[str, list[int]]]:
    """Return an act's name, language and number of articles, and the ranks by system."""
    corpus = import_corpus(folder / entry["file"], "xml")
    with tempfile.TemporaryDirectory(prefix="statgraph-acts-") as runs:
        found = {system: ranks(corpus, system, entry["questions"], Path(runs) / system) for system in SYSTEMS}
    print(f"{entry['act']}: {found}", flush=True)
    return [entry["act"], corpus.language, f"{len(corpus.articles):,}"], found


def cell(found: Sequence[int]) -> str:
    """Return how many answers come first, and how many among the first three."""
    return f"{found.count(1)} / {sum(1 <= rank <= SHOWN for rank in found)}"


def act_table(acts: Sequence[tuple[list[str], dict[str, list[int]]]]) -> list[str]:
    """Return the table of what was measured of the acts, with its totals."""
    rows = [[*cells, *map(cell, found.values())] for cells, found in acts]
    together = [[rank for _, found in acts for rank in found[system]] for system in SYSTEMS]
    totals = ["together", "", "", *(f"{cell(found)} of {len(found)}" for found in together)]
    return table(["act", "language", "articles", "BM25", "ensemble"], [*rows, totals])


def small_laws(acts: Path) -> Iterator[Corpus]:
    """Yield the laws that are asked in everyday words, with their questions as dev: two and six of the tests, and the
    ten acts.

    Args:
        acts: the folder with the files of the ten acts, which are not part of the project.
    """
    for name in _WRITTEN:
        law = import_corpus(_LAWS / name, "jsonl")
        yield replace(law, questions=tuple(replace(question, split="dev") for question in law.questions))
    official = _LAWS / "official_acts"
    for name, asked in read_yaml(official / "questions.yaml").items():
        yield _with_questions(import_corpus(official / f"{name}.xml"), asked)
    for entry in read_yaml(QUESTIONS):
        yield _with_questions(import_corpus(acts / entry["file"], "xml"), entry["questions"])


def _with_questions(law: Corpus, asked: Sequence[tuple[str, Sequence[str]]]) -> Corpus:
    questions = [
        Question(
            question_id=f"q{place}",
            text=text,
            article_ids=tuple(article.article_id for article in law.articles if is_answer(article, numbers)),
            split="dev",
        )
        for place, (text, numbers) in enumerate(asked)
    ]
    return replace(law, questions=tuple(questions))


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Measure every act and write the page."""
    acts = act_table([measured(entry, folder) for entry in read_yaml(QUESTIONS)])
    write_text(PAGE, with_tables(PAGE, acts))


if __name__ == "__main__":
    run_command(main, "python -m tools.official_acts")
