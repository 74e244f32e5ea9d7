"""Precision and recall of the references that are read in the texts of real acts, by language.

    python -m tools.citations FOLDER [--list LANGUAGE]

FOLDER holds the acts, which are not part of the project. Where their files mark references up, the marks that lead to
another article of the same act are the truth; elsewhere the articles that citations.yaml lists. --list prints what is
missed and what is found beyond the truth. Otherwise writes the tables of docs/citations.md.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click
from scipy.stats import binomtest

from statgraph.artifacts import write_text
from statgraph.cli.main import run_command
from statgraph.errors import StatgraphError
from statgraph.formats.importing import import_corpus
from statgraph.law.citations.numbers import article_number
from statgraph.law.citations.references import REFERENCES, ReferenceFinder
from statgraph.law.records import REFERENCES_ELSEWHERE, Article
from statgraph.law.titles import number_or_title
from statgraph.studies.rendering import table
from tools.material import DOCS, law_files, read_yaml, with_tables

LABELS = Path(__file__).with_suffix(".yaml")
PAGE = DOCS / "citations.md"
ACTS = "law-formats"
JUDGED = 40
SEED = 0
_TARGET_NUMBER = re.compile(r"(?:artikel=|\bart[_-]?|/s(?:ection/)?|\bsection-)(?P<number>\d[\w.:%-]*)")

Pair = tuple[str, str, str]  # a file, the number of an article in it, the number of one that it names


@dataclass
class ReadAct:
    """The articles of a file, what finds their references, and where each number is."""

    name: str
    language: str
    articles: list[Article]
    finder: ReferenceFinder = field(init=False)
    rows: dict[tuple[str, str], int] = field(init=False)

    def __post_init__(self) -> None:
        codes = [article.code for article in self.articles]
        self.finder = ReferenceFinder(list(map(number_or_title, self.articles)), codes)
        self.rows = {}
        for row, article in enumerate(self.articles):
            self.rows.setdefault((article.code, self.number(row)), row)

    def number(self, row: int) -> str:
        """Return the number of an article without its word, in comparable form, or its id."""
        return self.finder.keys[row] or self.articles[row].article_id

    def found(self, row: int) -> set[int]:
        """Return the other articles of the same act that an article names."""
        article = self.articles[row]
        references = [one for one in self.finder.cited(article.text, article.code) if one.code == article.code]
        named = {other for one in references for other in self.finder.rows_of(one, article.code)} - {row}
        return {other for other in named if " " not in self.number(other)}  # no annexes

    def pair(self, row: int, other: int) -> Pair:
        """Return the pair of two articles."""
        return self.name, self.number(row), self.number(other)


@dataclass
class Counts:
    """References to articles of the same act, in one language: those in the truth, those found, those found of the
    truth; which were missed, and which were found beyond it."""

    articles: int = 0
    truth: int = 0
    found: int = 0
    both: int = 0
    missed: list[Pair] = field(default_factory=list)
    beyond: set[Pair] = field(default_factory=set)

    def add(self, act: ReadAct, row: int, truth: set[int]) -> None:
        """Count one article, whose true references are given as rows."""
        found = act.found(row)
        self.articles += 1
        self.truth += len(truth)
        self.found += len(found)
        self.both += len(truth & found)
        self.missed += [act.pair(row, other) for other in sorted(truth - found)]
        self.beyond |= {act.pair(row, other) for other in found - truth}


def read_act(folder: Path, name: str, language: str = "") -> ReadAct:
    """Return a file of a folder: an act in an official format, or lines of JSON with a path each, in a language."""
    path = folder / name
    if ".jsonl" not in path.name:
        corpus = import_corpus(path, "xml")
        return ReadAct(name, corpus.language, list(corpus.articles))
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return ReadAct(name, language, [Article(of["_id"], of["title"], of["text"], tuple(of["metadata"]["path"]), at)
                                for at, of in enumerate(records)])  # fmt: skip


def marked_acts(folder: Path) -> Iterator[ReadAct]:
    """Yield every act of the folder whose file can be read."""
    for path in law_files(folder / ACTS):
        with suppress(StatgraphError):
            yield read_act(folder, str(path.relative_to(folder)))


def rows_listed(act: ReadAct, row: int, listed: str) -> set[int]:
    """Return the rows of listed numbers in the act of an article, without that itself."""
    rows: set[int] = set()
    code = act.articles[row].code
    for item in listed.split():
        first, _, last = item.partition("..")
        ends = [act.rows[code, article_number(number)] for number in (first, last or first)]
        rows.update(range(ends[0], ends[1] + 1))
    return rows - {row}


def labelled(folder: Path, labels: Mapping[str, Mapping[str, Mapping[str, str]]]) -> dict[str, Counts]:
    """Return the counts of the articles that were read by eye, by language."""
    counts: dict[str, Counts] = {}
    for language, files in labels.items():
        for name, articles in files.items():
            if not (folder / name).exists():
                print(f"{name}: not in {folder}; not measured")
                continue
            act = read_act(folder, name, language)
            if act.language != language:
                raise SystemExit(f"{name}: is in '{act.language}' and labelled as '{language}'; correct {LABELS.name}")
            by_id = {article.article_id: row for row, article in enumerate(act.articles)}
            code = act.articles[0].code
            for key, listed in articles.items():
                row = by_id[key] if key in by_id else act.rows[code, article_number(key)]
                counts.setdefault(language, Counts()).add(act, row, rows_listed(act, row, listed))
    return counts


def marked(acts: Iterable[ReadAct]) -> tuple[dict[str, Counts], dict[str, Counter[str]]]:
    """Return the counts of the articles with marks that lead to the same act; and of the marks that lead to a numbered
    article of another, by language: `marks`, those whose number is `read`, and read as one of an `other` act."""
    counts, elsewhere = {}, {}
    for act in acts:
        by_id = {article.article_id: row for row, article in enumerate(act.articles)}
        for row, article in enumerate(act.articles):
            truth = {by_id[target] for target in article.metadata.get(REFERENCES, ())} - {row}
            truth = {other for other in truth if " " not in act.number(other)}
            if truth:
                counts.setdefault(act.language, Counts()).add(act, row, truth)
            targets = article.metadata.get(REFERENCES_ELSEWHERE, ())
            matches = (_TARGET_NUMBER.search(target.replace("%3A", ":")) for target in targets)
            numbers = {article_number(match["number"]) for match in matches if match}
            if numbers:
                read = elsewhere.setdefault(act.language, Counter())
                cited = act.finder.cited(article.text, article.code)
                keys = [(key, of.code) for of in cited for number in of.numbers for key in number.keys]
                read["marks"] += len(numbers)
                read["read"] += len(numbers & {key for key, _ in keys})
                read["other"] += len(numbers & {key for key, code in keys if code is None})
    return counts, elsewhere


def percent(part: int, whole: int) -> str:
    """Return a share in percent with its Wilson interval of 95 %."""
    if not whole:
        return ""
    low, high = binomtest(part, whole).proportion_ci(method="wilson")
    return f"{100 * part / whole:.1f} ({100 * low:.0f} to {100 * high:.0f})"


def sample(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs to look at by eye: the same ones of the same pairs."""
    ordered = sorted(pairs)
    return sorted(random.Random(SEED).sample(ordered, min(JUDGED, len(ordered))))


def tables(
    by_eye: Mapping[str, Counts], by_marks: Mapping[str, Counts], elsewhere: Mapping[str, Counter[str]], judged: Mapping
) -> list[str]:
    """Return the tables of the page."""

    def right(of: Counts) -> str:
        verdicts = [verdict for pair in sample(of.beyond) if (verdict := judged.get("/".join(pair)))]
        return f"{verdicts.count('right')} of {len(verdicts)}" if verdicts else ""

    read_by_eye = [
        (language, of.articles, of.truth, of.found, percent(of.both, of.truth), percent(of.both, of.found))
        for language, of in by_eye.items()
    ]
    marks = [
        (language, of.truth, of.both, percent(of.both, of.truth), len(of.beyond), right(of))
        for language, of in by_marks.items()
    ]
    others = [(language, read["marks"], read["read"], read["other"]) for language, read in elsewhere.items()]
    return [
        *table(["language", "articles", "references", "found", "recall", "precision"], read_by_eye),
        "",
        *table(["language", "marked", "found", "recall", "found, not marked", "of a sample, right"], marks),
        "",
        *table(["language", "marks to other acts", "number read", "as one of another act"], others),
    ]


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--list", "language", default="", help="Print what is missed and found beyond the truth.")
def main(folder: Path, language: str) -> None:
    """Measure, and write the tables or print the references of a language."""
    if not (folder / ACTS).is_dir():
        raise click.UsageError(f"{folder}: no folder '{ACTS}' in it; name the folder that holds the acts")
    known = read_yaml(LABELS)
    chosen = {name: files for name, files in known["labelled"].items() if language in ("", name)}
    by_eye = labelled(folder, chosen)
    by_marks, elsewhere = marked(marked_acts(folder))
    if not language:
        lines = tables(by_eye, by_marks, elsewhere, known.get("judged", {}))
        print("\n".join(lines))
        write_text(PAGE, with_tables(PAGE, lines))
        return
    for counts in (by_eye, by_marks):
        listed = counts.get(language, Counts())
        for pair in listed.missed[:100]:
            print("missed", *pair)
        for pair in sample(listed.beyond):
            print("beyond", *pair)


if __name__ == "__main__":
    run_command(main, "python -m tools.citations")
