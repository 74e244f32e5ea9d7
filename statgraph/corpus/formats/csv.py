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
from collections.abc import Iterator, Mapping
from pathlib import Path

from statgraph.corpus.draft import Draft, SourceFormat
from statgraph.corpus.formats.tables import ArticleRow, HeadingRow, QuestionRow, draft_tables, table_files
from statgraph.corpus.rows import csv_rows

ARTICLE_COLUMNS = ("id", "_id", "title", "text", "path", "heading")
QUESTION_COLUMNS = ("id", "_id", "text", "articles", "split")
PATH_SEPARATOR = " > "
_ID_SEPARATOR = re.compile(r"[,;\s]+")


def draft_csv(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of CSV tables, or from a single file of articles."""
    files = table_files(draft, source, ".csv")
    if files.articles:
        draft_tables(
            draft,
            _articles(draft, files.articles),
            _headings(draft, files.headings),
            _questions(draft, files.questions),
        )


def split_ids(text: str) -> tuple[str, ...]:
    """Return the ids in a field, separated by commas, semicolons or spaces."""
    return tuple(identifier for identifier in _ID_SEPARATOR.split(text) if identifier)


def split_path(text: str) -> tuple[str, ...]:
    """Return the headings in a field; one is "" where a side of the separator is empty."""
    return tuple(heading.strip() for heading in f" {text} ".split(PATH_SEPARATOR)) if text.strip() else ()


def _headings(draft: Draft, path: Path | None) -> Iterator[HeadingRow]:
    needed = ("id|_id", "title", "parent")
    for place, row in csv_rows(draft, path, path.name, needed=needed) if path else ():
        yield HeadingRow(place, _id(row), row["title"].strip(), row["parent"].strip())


def _articles(draft: Draft, path: Path) -> Iterator[ArticleRow]:
    with draft.articles_from(path.name):
        for place, row in csv_rows(draft, path, path.name, needed=("id|_id", "text", "path|heading")):
            yield ArticleRow(
                place,
                _id(row),
                title=row.get("title", ""),
                text=row["text"],
                path=split_path(row.get("path", "")),
                heading_id=row.get("heading", "").strip(),
                metadata=_rest(row, ARTICLE_COLUMNS),
            )


def _questions(draft: Draft, path: Path | None) -> Iterator[QuestionRow]:
    for place, row in csv_rows(draft, path, path.name, needed=("id|_id", "text", "articles")) if path else ():
        yield QuestionRow(
            place,
            _id(row),
            text=row["text"],
            article_ids=split_ids(row["articles"]),
            split=row.get("split", "").strip(),
            metadata=_rest(row, QUESTION_COLUMNS),
        )


def _id(row: Mapping[str, str]) -> str:
    return (row.get("id") or row.get("_id") or "").strip()


def _rest(row: Mapping[str, str], known_columns: tuple[str, ...]) -> dict[str, object]:
    return {column: value for column, value in row.items() if column and value and column not in known_columns}


FORMAT = SourceFormat("your own articles.csv, headings.csv, questions.csv", draft_csv)
