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
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import click
import yaml

from statgraph.artifacts import write_text
from statgraph.cli.main import run_command
from statgraph.errors import StatgraphError
from statgraph.formats.importing import import_corpus
from statgraph.law.citations.numbers import article_number
from statgraph.law.citations.references import REFERENCES, Reference, ReferenceFinder
from statgraph.law.records import REFERENCES_ELSEWHERE, Article
from statgraph.law.titles import number_or_title

LABELS = Path(__file__).with_suffix(".yaml")
PAGE = Path(__file__).parents[1] / "docs" / "citations.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
ACTS = "law-formats"
JUDGED = 40
SEED = 0
_NO_LAW = (".txt", ".json", ".py", ".md")
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

    def found(self, row: int) -> dict[int, Reference]:
        """Return the other articles of the same act that an article names, each with its first reference."""
        article = self.articles[row]
        found: dict[int, Reference] = {}
        for reference in self.finder.cited(article.text, article.code):
            for other in self.finder.rows_of(reference, article.code) if reference.code == article.code else ():
                found.setdefault(other, reference)
        found.pop(row, None)
        return {other: reference for other, reference in found.items() if " " not in self.number(other)}  # no annexes

    def pair(self, row: int, other: int) -> Pair:
        """Return the pair of two articles."""
        return self.name, self.number(row), self.number(other)


@dataclass
class Counts:
    """References to articles of the same act, by language: those in the truth, those found, those found of the truth;
    which were missed, which were found beyond it, each with the text around it."""

    truth: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    both: Counter[str] = field(default_factory=Counter)
    articles: Counter[str] = field(default_factory=Counter)
    missed: dict[str, dict[Pair, str]] = field(default_factory=dict)
    beyond: dict[str, dict[Pair, str]] = field(default_factory=dict)

    def add(self, act: ReadAct, row: int, truth: set[int]) -> None:
        """Count one article, whose true references are given as rows."""
        found, language = act.found(row), act.language
        self.articles[language] += 1
        self.truth[language] += len(truth)
        self.found[language] += len(found)
        self.both[language] += len(truth & found.keys())
        text = act.articles[row].text
        for other in truth - found.keys():
            self.missed.setdefault(language, {})[act.pair(row, other)] = around(text, act.number(other))
        for other in found.keys() - truth:
            reference = found[other]
            context = text[max(0, reference.start - 60) : reference.end + 60].replace("\n", " / ")
            self.beyond.setdefault(language, {})[act.pair(row, other)] = context


def around(text: str, number: str) -> str:
    """Return what stands around a number in a text, "" where it is not there."""
    match = re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", text)
    return text[max(0, match.start() - 60) : match.end() + 60].replace("\n", " / ") if match else ""


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
    for path in sorted((folder / ACTS).glob("*/*")):
        if path.suffix not in _NO_LAW:
            try:
                yield read_act(folder, str(path.relative_to(folder)))
            except StatgraphError:
                continue


def rows_listed(act: ReadAct, row: int, listed: str) -> set[int]:
    """Return the rows of listed numbers in the act of an article, without that itself."""
    rows: set[int] = set()
    code = act.articles[row].code
    for item in listed.split():
        first, _, last = item.partition("..")
        ends = [act.rows[code, article_number(number)] for number in (first, last or first)]
        rows.update(range(ends[0], ends[1] + 1))
    return rows - {row}


def labelled(folder: Path, labels: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Counts:
    """Return the counts of the articles that were read by eye."""
    counts = Counts()
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
                counts.add(act, row, rows_listed(act, row, listed))
    return counts


def marked(acts: Iterable[ReadAct]) -> tuple[Counts, dict[str, Counter[str]]]:
    """Return the counts of the articles with marks that lead to the same act; and of the marks that lead to a numbered
    article of another, by language: `marks`, those whose number is `read`, and read as one of an `other` act."""
    counts, elsewhere = Counts(), {}
    for act in acts:
        by_id = {article.article_id: row for row, article in enumerate(act.articles)}
        for row, article in enumerate(act.articles):
            truth = {by_id[target] for target in article.metadata.get(REFERENCES, ())} - {row}
            truth = {other for other in truth if " " not in act.number(other)}
            if truth:
                counts.add(act, row, truth)
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
    share, z = part / whole, 1.96
    middle, width = share + z * z / (2 * whole), z * (share * (1 - share) / whole + z * z / (4 * whole**2)) ** 0.5
    low, high = ((middle + sign * width) / (1 + z * z / whole) for sign in (-1, 1))
    return f"{100 * share:.1f} ({100 * low:.0f} to {100 * high:.0f})"


def sample(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs to look at by eye: the same ones of the same pairs."""
    ordered = sorted(pairs)
    return sorted(random.Random(SEED).sample(ordered, min(JUDGED, len(ordered))))


def tables(by_eye: Counts, by_marks: Counts, elsewhere: Mapping[str, Counter[str]], judged: Mapping) -> str:
    """Return the tables of the page."""
    lines = [
        "| language | articles | references | found | recall | precision |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for language in by_eye.truth:
        truth, found, both = (counts[language] for counts in (by_eye.truth, by_eye.found, by_eye.both))
        cells = (language, by_eye.articles[language], truth, found, percent(both, truth), percent(both, found))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| language | marked | found | recall | found, not marked | of a sample, right |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for language, truth in by_marks.truth.items():
        beyond = by_marks.beyond.get(language, {})
        known = {"/".join(pair): verdict for pair in sample(beyond) if (verdict := judged.get("/".join(pair)))}
        right = f"{list(known.values()).count('right')} of {len(known)}" if known else ""
        cells = (language, truth, by_marks.both[language], percent(by_marks.both[language], truth), len(beyond), right)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        "",
        "| language | marks to other acts | number read | as one of another act |",
        "| --- | --- | --- | --- |",
    ]
    for language, read in elsewhere.items():
        lines.append(f"| {language} | {read['marks']} | {read['read']} | {read['other']} |")
    return "\n".join(lines)


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--list", "language", default="", help="Print what is missed and found beyond the truth.")
def main(folder: Path, language: str) -> None:
    """Measure, and write the tables or print the references of a language."""
    if not (folder / ACTS).is_dir():
        raise click.UsageError(f"{folder}: no folder '{ACTS}' in it; name the folder that holds the acts")
    known = yaml.safe_load(LABELS.read_text(encoding="utf-8"))
    chosen = {name: files for name, files in known["labelled"].items() if language in ("", name)}
    by_eye = labelled(folder, chosen)
    by_marks, elsewhere = marked(marked_acts(folder))
    if not language:
        text = tables(by_eye, by_marks, elsewhere, known.get("judged", {}))
        print(text)
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        write_text(PAGE, f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")
        return
    for counts in (by_eye, by_marks):
        for pair, context in islice(counts.missed.get(language, {}).items(), 100):
            print("missed", *pair, "|", context)
        beyond = counts.beyond.get(language, {})
        for pair in sample(beyond):
            print("beyond", *pair, "|", beyond[pair])


if __name__ == "__main__":
    run_command(main, "python -m tools.citations")
