"""Every file of a folder of official formats: what `statgraph import xml` finds in it.

    python -m tools.official_files FOLDER

FOLDER holds a folder for each format, with a README.txt that has an independent count of each file's articles. Writes
the table of docs/official-files.md.
"""

from __future__ import annotations

import re
import resource
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import click

from statgraph.artifacts import write_text
from statgraph.cli.main import run_command
from statgraph.errors import StatgraphError
from statgraph.formats.acts.documents import Document, documents
from statgraph.formats.acts.profile import fitting_profile
from statgraph.formats.acts.reader import ActReader, parsed, root_of
from statgraph.formats.importing import import_corpus
from statgraph.law.records import Article
from statgraph.studies.rendering import table
from tools.material import DOCS, law_files, with_tables

PAGE = DOCS / "official-files.md"
_COUNTS = re.compile(r"'?(articles(?:_main|_annex)?|article titles|unit_arti|unit_para)'?[: ]+(\d+)")
_COLUMNS = (
    "format", "file", "counted", "found", "without text", "quoted", "headings", "references", "resolved", "seconds",
    "as text", "as text, cut",
)  # fmt: skip
_WORD_OF_OURS = re.compile(r"^(?:section|article|regulation|rule|paragraph) ")  # acts print the number alone
_MARGIN = 76  # characters


def counted(readme: str, name: str) -> str:
    """Return what a README counts as a file's articles, those of annexes behind a plus sign."""
    line = next((line for line in readme.splitlines() if line.strip().startswith(f"{name} ")), "")
    found = {kind: int(number) for kind, number in _COUNTS.findall(line)}
    units = found.get("unit_arti") or found.get("unit_para")
    main = found.get("articles_main") or found.get("articles") or found.get("article titles") or units or 0
    annexes = found.get("articles_annex", 0)
    return f"{main:,}" + (f" + {annexes:,}" if annexes else "")


def as_text(articles: Sequence[Article]) -> list[str]:
    """Return the paragraphs of an act as a word processor would save it: headings, numbers with rubrics, texts."""
    lines: list[str] = []
    above: tuple[str, ...] = ()
    for article in articles:
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(above, article.path, strict=False))
        lines += article.path[len(list(shared)) :]
        number = _WORD_OF_OURS.sub("", article.number or article.title)
        lines += f"{number} {article.rubric}".strip(), *article.text.splitlines()
        above = article.path
    return lines


def read_again(lines: Sequence[str], language: str) -> str:
    """Return how many articles `statgraph import txt` finds in lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "act.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        try:
            return f"{len(import_corpus(path, 'txt', language=language).articles):,}"
        except StatgraphError:
            return "0"


def row_of(document: Document, path: Path, readme: str) -> list[str]:
    """Return the cells of a file's row."""
    start = time.perf_counter()
    profile = fitting_profile(document.head, root_of(document.head))
    cells = [path.parent.name, path.name, counted(readme, path.name)]
    if profile is None:
        return [*cells, "not recognised", *[""] * 8]
    reader = ActReader(parsed(document.read(), profile.settings.syntax, path.name), profile, path.name)
    articles = reader.articles
    seconds = time.perf_counter() - start
    in_annexes = sum(bool(article.annex) for article in articles)
    resolved, again = 0, ["", ""]
    with suppress(StatgraphError):  # a file without an article
        corpus = import_corpus(path, "xml")
        resolved = sum(len(article.metadata.get("references", ())) for article in corpus.articles)
        lines = as_text(corpus.articles)
        cut = [part for line in lines for part in textwrap.wrap(line, _MARGIN)]
        again = [read_again(written, corpus.language) for written in (lines, cut)]
    found = f"{len(articles) - in_annexes:,}" + (f" + {in_annexes:,}" if in_annexes else "")
    return [
        *(*cells, found, f"{reader.repealed:,}", f"{reader.quoted:,}", f"{len(reader.headings):,}"),
        *(f"{reader.text.n_references:,}", f"{resolved:,}", f"{seconds:.2f}", *again),
    ]


def rows(folder: Path) -> Iterator[list[str]]:
    """Yield the row of each file of law below a folder."""
    for path in law_files(folder):
        readme = (path.parent / "README.txt").read_text(encoding="utf-8")
        for document in documents(path):
            yield row_of(document, path, readme)


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Read every file and write the page."""
    files = list(rows(folder))
    if not files:
        raise click.UsageError(f"{folder}: no folder of a format in it; name the folder that holds them")
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    memory = f"All files, one after another, took {mebibytes:,.0f} MiB at most."
    write_text(PAGE, with_tables(PAGE, [*table(_COLUMNS, files), "", memory]))


if __name__ == "__main__":
    run_command(main, "python -m tools.official_files")
