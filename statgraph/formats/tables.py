"""A user's own statutes in tables: JSON lines, or CSV with a header and commas, semicolons or tabs.

- `articles`: `id`, `text`, `number` ("Art. 36"), `rubric` (its own heading), `title` (how it is cited; left out, it is
  made from number and code), and its place: `path`, the headings above it from the code down (in CSV with " > "
  between them), or `heading`, the id of a heading.
- `headings`: `id`, `title`, `parent` (the id of the heading above; none for a code).
- `questions`: `text` or `question`, `articles` (a list of ids, numbers or citations such as "§ 12 PS"; in CSV with a
  comma, a semicolon or, where ids hold none, a space between them), `id`, `split`; `set`, the name of a question set
  other than the main one. A question without an id gets one, and is one with a question of another file in its words.
- `citing`: texts beside the law that cite it: `id`, `title`, `text`, `cites` (ids as in `articles`; left empty, the
  articles that title and text name by number), `question_id`, `part`.

`_id` also works for `id`, and `number` does where there is none. Headings can also be rows of their own
(`records_of_rows`). Articles come in the order of the file. Any other key or column of articles or questions is
kept as metadata; `valid_from` and `valid_to` say when an article is in force (`statgraph.law.validity`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from statgraph.errors import option
from statgraph.formats.law_words import LONGEST_HEADING, HeadingLine, HeadingStack, LinePatterns
from statgraph.law.draft import Draft, SourceFormat
from statgraph.law.fields import (
    UNREADABLE,
    FieldNames,
    draft_article,
    draft_citing,
    draft_question,
    id_field,
    leave_out_others,
    string_field,
)
from statgraph.law.lines import csv_fields, json_lines, named_rows, table_value
from statgraph.law.records import PATH_SEPARATOR
from statgraph.law.titles import NUMBER

MAX_LISTED_CYCLE = 8
ARTICLE_NAMES = FieldNames(
    id=("id", "_id", "number"), title="title", number="number", rubric="rubric", path="path", heading="heading"
)
QUESTION_NAMES = FieldNames(
    id=("id", "_id"), text=("text", "question"), articles="articles", split="split", makes_ids=True
)
PLACE_COLUMNS = "path|heading"
NEEDED_COLUMNS = {
    "articles": ("id|_id|number", "text", PLACE_COLUMNS),
    "headings": ("id|_id", "title", "parent"),
    "questions": ("text|question", "articles"),
    "citing": ("id|_id", "text"),
}
_SUFFIXES = {"csv": (".csv", ".tsv"), "jsonl": (".jsonl", ".ndjson", ".json")}
ID_COLUMNS = {"questions": "articles", "citing": "cites"}
_PLAIN_HEADING = "heading"  # the kind of one that the words of no language begin
_REMEDY = f"name every needed column on this line, or give yours with {option('column')}, such as text=Wortlaut"

PlacedRecords = Iterable[tuple[str, Mapping[str, object]]]


def draft_jsonl(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of JSONL tables, or from a single file of articles."""
    draft_tables(draft, source, ".jsonl", partial(jsonl_records, draft), other="csv")


def draft_csv(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of CSV tables, or from a single file of articles."""
    draft_tables(draft, source, ".csv", partial(_csv_records, draft), other="jsonl")


def draft_citing_tables(draft: Draft, folder: Path) -> None:
    """Fill a draft with the tables of citing texts in a folder of documents."""
    for suffix, read in ((".csv", _csv_records), (".jsonl", jsonl_records)):
        path = folder / f"citing{suffix}"
        for place, record in read(draft, path, "citing") if path.is_file() else ():
            draft_citing(draft, place, record)


def jsonl_records(draft: Draft, path: Path, table: str) -> PlacedRecords:
    return ((place, _table_values(record)) for place, record in json_lines(draft, path, path.name))


def _csv_records(draft: Draft, path: Path, table: str) -> PlacedRecords:
    return records_of_rows(draft, table, csv_fields(draft, path, path.name))


def records_of_rows(draft: Draft, table: str, rows: Iterable[tuple[str, list[str]]]) -> PlacedRecords:
    """Yield (place, record) for the rows of a table of texts, with lists for `path`, `articles`, `cites`.

    A table of articles without a path can have headings as rows of their own, which become paths: a row with one filled
    cell, or without a number and a text. Such a row above the header is the title of the code; so is the first below it
    if another heading follows and it alone has no word such as Chapter.
    """
    needed, remedy, names = NEEDED_COLUMNS[table], _REMEDY, draft.article_names
    headings: _HeadingRows | None = None
    if table == "articles":
        title, rows, lone = _title_and_table(list(rows))
        if draft.reading.code or title or lone:
            needed = tuple(column for column in needed if column != PLACE_COLUMNS)
            headings = _HeadingRows(draft, draft.reading.code or title, lone)
        else:
            remedy += f"; {option('code')} TITLE does without path and heading"
    elif table == "questions":
        rows = _below_title(draft, list(rows))
    for place, row in named_rows(draft, rows, needed=needed, remedy=remedy):
        record: dict[str, object] = {column: value for column, value in row.items() if column and value}
        if table == "articles":
            record["path"] = list(split_path(row.get("path", "")))
            if headings is not None and not set(row) & set(PLACE_COLUMNS.split("|")):
                if headings.take(row):
                    continue
                record["path"] = headings.path
        if table in ID_COLUMNS:
            record[ID_COLUMNS[table]] = list(split_ids(row.get(ID_COLUMNS[table], ""), names))
        yield place, record


def _below_title(draft: Draft, rows: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return the rows of a table from its header on, which fills several cells."""
    begins = next((i for i, (_, values) in enumerate(rows) if sum(bool(value.strip()) for value in values) > 1), 0)
    for _, values in rows[:begins]:
        draft.report.keep_cells(values)
    return rows[begins:]


def _is_alone(values: Iterable[str]) -> bool:
    """Return whether one cell of a row is filled, and that is no number of an article."""
    filled = [value.strip() for value in values if value.strip()]
    return len(filled) == 1 and not re.fullmatch(NUMBER, filled[0])


def _title_and_table(
    rows: list[tuple[str, list[str]]],
) -> tuple[str, list[tuple[str, list[str]]], dict[int, str]]:
    """Return what stands alone above the header of a table, its rows from the header on, and the cells that stand alone
    below it by the number of their row. These rows are as wide as the header."""
    alone = [_is_alone(values) for _, values in rows]
    start = alone.index(False) if False in alone else 0
    title = " ".join(" ".join(values).strip() for _, values in rows[:start])
    table = rows[start:]
    lone = [number for number, is_alone in enumerate(alone[start:]) if is_alone]
    for number in lone:
        place, values = table[number]
        table[number] = place, values + [""] * (len(table[0][1]) - len(values))
    return title, table, {number: "".join(table[number][1]) for number in lone if number}


class _HeadingRows:
    """The headings above the rows of a table, from rows of their own."""

    def __init__(self, draft: Draft, code: str, lone: Mapping[int, str]):
        self._above, self._patterns = HeadingStack(), LinePatterns(draft.language)
        plain = [number for number, cell in lone.items() if not self._patterns.heading(cell)]
        has_title = plain == [1] and 2 in lone
        self._code = [code or draft.name] * (bool(code) or not has_title)

    @property
    def path(self) -> list[str]:
        return [*self._code, *self._above.path]

    def take(self, row: Mapping[str, str]) -> bool:
        """Return whether a row is a heading, and what follows is below it."""
        cells = [value.strip() for value in dict.fromkeys(row.values()) if value.strip()]
        unnumbered = (
            not any(row.get(key, "").strip() for key in ("id", "_id", "number")) and not row.get("text", "").strip()
        )
        title = ". ".join(cells)
        if not cells or not (_is_alone(cells) or unnumbered) or len(title) > LONGEST_HEADING:
            return False
        self._above.push(self._patterns.heading(title) or HeadingLine(_PLAIN_HEADING, "", title), title)
        return True


def split_ids(text: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the ids in a field, separated by commas, semicolons, line ends or spaces.

    An id among those that are `known` is not split; where any are, commas and spaces separate only such ids.
    """
    if text.strip() in known:
        return (text.strip(),)
    ids: list[str] = []
    for group in filter(None, map(str.strip, re.split("[;\n]", text))):
        parts = [part.strip() for part in group.split(",") if part.strip()]
        if known and not all(part in known or all(word in known for word in part.split()) for part in parts):
            ids.append(group)  # "Art. 36, Housing Code", which the draft understands
            continue
        for part in parts:
            ids += [part] if part in known else part.split()
    return tuple(ids)


def split_path(text: str) -> tuple[str, ...]:
    """Return the headings in a field; one is "" where a side of the separator is empty."""
    return tuple(heading.strip() for heading in f" {text} ".split(PATH_SEPARATOR)) if text.strip() else ()


def heading_paths(draft: Draft, records: PlacedRecords) -> dict[str, tuple[str, ...]]:
    """Return the path of each heading id: the titles from the code down to its own.

    Headings with the same title and parent become one heading. A repeated or missing id, an empty title, a missing
    parent and a heading that is its own ancestor become problems of the draft.
    """
    headings: dict[str, tuple[str, str, str]] = {}  # place, title and the parent's id, "" of a code
    for place, record in records:
        heading_id, parent_id = id_field(draft, place, record, "id", "_id"), id_field(draft, place, record, "parent")
        title = string_field(draft, place, record, "title").strip()
        leave_out_others(draft, record, ("id", "_id", "title", "parent"))
        draft.report.keep_cells((heading_id, parent_id))
        if heading_id is None or parent_id is None:
            continue
        heading_id = heading_id.strip()
        if draft.is_new("heading", heading_id, place, title=title):
            headings[heading_id] = place, title or UNREADABLE, parent_id.strip()
    paths: dict[str, tuple[str, ...]] = {}
    for heading_id in headings:
        chain: list[str] = []  # the ids from this heading upwards
        above = heading_id
        while above in headings and above not in paths and above not in chain:
            chain.append(above)
            _, _, above = headings[above]
        if above in chain:
            _add_cycle(draft, headings, chain[chain.index(above) :])
        elif above and above not in headings:
            draft.add_problem(
                headings[chain[-1]][0],
                f"heading '{chain[-1]}' has the parent '{above}', which does not exist; "
                "add that heading or leave the parent empty",
            )
        path = paths.get(above, (UNREADABLE,)) if above else ()
        for below in reversed(chain):
            path = paths[below] = (*path, headings[below][1])
    return paths


def _add_cycle(draft: Draft, headings: Mapping[str, tuple[str, str, str]], cycle: list[str]) -> None:
    start = cycle.index(next(heading_id for heading_id in headings if heading_id in cycle))
    round_trip = [*cycle[start:], *cycle[: start + 1]]
    if len(round_trip) > MAX_LISTED_CYCLE:
        round_trip = [*round_trip[: MAX_LISTED_CYCLE - 2], "...", round_trip[-1]]
    draft.add_problem(
        headings[cycle[start]][0],
        f"heading '{cycle[start]}' is its own ancestor ({' under '.join(round_trip)}); "
        "correct one of these parents so that the headings form a tree",
    )


def draft_tables(
    draft: Draft, source: Path, suffix: str, read: Callable[[Path, str], PlacedRecords], *, other: str = ""
) -> None:
    """Fill a draft from a folder with one file for each of `NEEDED_COLUMNS`, or from a single file of articles.

    Args:
        suffix: of the file names, such as ".csv"; all files but the articles are optional.
        read: yields (place, record) for a file and the name of its table, with lists for `path`, `articles`, `cites`.
        other: the format that a single file is in if its name ends as one of `_SUFFIXES`, for which it is refused.
    """
    files = {table: source / f"{table}{suffix}" for table in NEEDED_COLUMNS}
    if source.is_file():
        if source.suffix.lower() in _SUFFIXES.get(other, ()):
            problem = f"ends in {source.suffix}; read it with 'statgraph import {other}', or rename it"
            return draft.add_problem(source.name, problem)
        files = {"articles": source}
    elif not files["articles"].exists():
        found = ", ".join(sorted(path.name for path in source.iterdir())[:8]) or "nothing"
        name = files["articles"].name
        return draft.add_problem(str(source), f"holds no {name} (found: {found}); put one article in each row there")
    tables = {table: read(path, table) for table, path in files.items() if path.exists()}
    return draft_records(draft, tables, files["articles"].name)


def draft_rows(draft: Draft, tables: Mapping[str, Iterable[Mapping[str, object]]]) -> None:
    """Fill a draft from tables in memory, by name as in `NEEDED_COLUMNS`; a place is like `articles[3]`."""

    def placed(table: str) -> PlacedRecords:
        for number, row in enumerate(tables[table]):
            if isinstance(row, Mapping):
                yield f"{table}[{number}]", _table_values(row)
            else:
                draft.add_problem(f"{table}[{number}]", f"{type(row).__name__} instead of a dict; give a dict a row")

    draft_records(draft, {table: placed(table) for table in tables}, "articles")


def _table_values(record: Mapping[str, object]) -> dict[str, object]:
    return {key: table_value(value) for key, value in record.items()}


def draft_records(draft: Draft, tables: Mapping[str, PlacedRecords], articles_name: str) -> None:
    """Fill a draft from the records of tables, by name as in `NEEDED_COLUMNS`."""
    paths = heading_paths(draft, tables.get("headings", ()))
    with draft.articles_from(articles_name):
        for place, record in tables["articles"]:
            draft_article(draft, place, record, ARTICLE_NAMES, paths=paths)
    for place, record in tables.get("questions", ()):
        draft_question(draft, place, record, QUESTION_NAMES)
    for place, record in tables.get("citing", ()):
        draft_citing(draft, place, record)


_TAKES = ("encoding", "columns", "code")
JSONL = SourceFormat(
    "your own articles.jsonl, headings.jsonl, questions.jsonl, citing.jsonl",
    draft_jsonl,
    takes=_TAKES,
    suffixes=(".jsonl", ".ndjson"),
    files=("articles.jsonl",),
)
CSV = SourceFormat(
    "your own articles.csv, headings.csv, questions.csv, citing.csv",
    draft_csv,
    takes=_TAKES,
    suffixes=(".csv", ".tsv"),
    files=("articles.csv",),
)
