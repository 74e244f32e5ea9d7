"""A user's own statutes as CSV tables with a header, separated by comma, semicolon or tab.

- `articles.csv`: `id`, `title`, `text`, and its place: `path`, the headings above it from the code down
  with " > " between them, or `heading`, the id of a heading.
- `headings.csv`: `id`, `title`, `parent` (the id of the heading above; empty for a code).
- `questions.csv`: `id`, `text`, `articles` (ids with a comma, a semicolon or a space between them), `split`.

`_id` also works for `id`. Articles come in the order of the file. Any other column of articles or questions is kept as
metadata; `valid_from` and `valid_to` say when an article is in force (`statgraph.corpus.validity`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from statgraph.corpus.draft import Draft, SourceFormat
from statgraph.corpus.formats.tables import draft_tables
from statgraph.corpus.rows import csv_rows

NEEDED_COLUMNS = {
    "articles": ("id|_id", "text", "path|heading"),
    "headings": ("id|_id", "title", "parent"),
    "questions": ("id|_id", "text", "articles"),
}
PATH_SEPARATOR = " > "
_ID_SEPARATOR = re.compile(r"[,;\s]+")


def draft_csv(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of CSV tables, or from a single file of articles."""

    def read(path: Path, table: str) -> Iterator[tuple[str, dict[str, object]]]:
        for place, row in csv_rows(draft, path, path.name, needed=NEEDED_COLUMNS[table]):
            record: dict[str, object] = {column: value for column, value in row.items() if column and value}
            if table == "articles":
                record["path"] = list(split_path(row.get("path", "")))
            if table == "questions":
                record["articles"] = list(split_ids(row["articles"]))
            yield place, record

    draft_tables(draft, source, ".csv", read)


def split_ids(text: str) -> tuple[str, ...]:
    """Return the ids in a field, separated by commas, semicolons or spaces."""
    return tuple(identifier for identifier in _ID_SEPARATOR.split(text) if identifier)


def split_path(text: str) -> tuple[str, ...]:
    """Return the headings in a field; one is "" where a side of the separator is empty."""
    return tuple(heading.strip() for heading in f" {text} ".split(PATH_SEPARATOR)) if text.strip() else ()


FORMAT = SourceFormat("your own articles.csv, headings.csv, questions.csv", draft_csv)
