"""Ten acts in the official formats of eight publishers: import, train without questions, ask what people would ask.

    python -m tools.official_acts FOLDER [--only WORD]

FOLDER holds the acts' files, which are not part of the project; official_acts.yaml names them and has the questions.
Writes docs/official-acts.md.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import yaml

from statgraph import Corpus, import_corpus, train
from statgraph.artifacts import write_text
from statgraph.cli.main import run_command
from statgraph.law.records import Question
from statgraph.retrieval.search.hits import Hit

QUESTIONS = Path(__file__).with_suffix(".yaml")
_LAWS = Path(__file__).parents[1] / "tests" / "laws"
_WRITTEN = "household-services", "vereine"
PAGE = Path(__file__).parents[1] / "docs" / "official-acts.md"
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
    """Return the cells of an act's row, and the ranks by system."""
    corpus = import_corpus(folder / entry["file"], "xml")
    cells, by_system = [entry["act"], corpus.language, f"{len(corpus.articles):,}"], {}
    with tempfile.TemporaryDirectory(prefix="statgraph-acts-") as runs:
        for system in SYSTEMS:
            by_system[system] = ranks(corpus, system, entry["questions"], Path(runs) / system)
    cells += [cell(by_system[system]) for system in SYSTEMS]
    print(f"{entry['act']}: {by_system}", flush=True)
    return cells, by_system


def cell(found: Sequence[int]) -> str:
    """Return how many answers come first, and how many among the first three."""
    return f"{found.count(1)} / {sum(1 <= rank <= SHOWN for rank in found)}"


def page(rows: Sequence[Sequence[str]], ranks_by_system: Mapping[str, list[int]]) -> str:
    """Return the table of all acts with its totals."""
    asked = len(ranks_by_system[SYSTEMS[0]])
    totals = ["together", "", "", *(f"{cell(ranks_by_system[system])} of {asked}" for system in SYSTEMS)]
    lines = [
        "# Ten acts in their official formats",
        "",
        "Each imported by `statgraph import`, trained without a question, asked eight questions that were written",
        "before anything was searched (`tools/official_acts.yaml`): answers first / among the first three. Seed 0.",
        "",
        "| act | language | articles | BM25 | ensemble |",
        "| --- | --- | --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in [*rows, totals]),
        "",
        "[What was tried](tried.md) to raise it: passages, vectors of rubrics, feedback.",
        "`python -m tools.official_acts` writes this page.",
    ]
    return "\n".join(lines) + "\n"


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
    for name, asked in yaml.safe_load((official / "questions.yaml").read_text(encoding="utf-8")).items():
        yield _with_questions(import_corpus(official / f"{name}.xml"), asked)
    for entry in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8")):
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
@click.option("--only", default="", help="Acts whose name holds this word; nothing is written then.")
def main(folder: Path, only: str) -> None:
    """Measure every act and write the page."""
    acts = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    chosen = [entry for entry in acts if only in entry["act"]]
    rows, ranks_by_system = [], {system: [] for system in SYSTEMS}
    for entry in chosen:
        row, found = measured(entry, folder)
        rows.append(row)
        for system in SYSTEMS:
            ranks_by_system[system] += found[system]
    text = page(rows, ranks_by_system)
    print(text)
    if not only:
        write_text(PAGE, text)


if __name__ == "__main__":
    run_command(main, "python -m tools.official_acts")
