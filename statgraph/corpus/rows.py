"""CSV files, read row by row with the line on which each row starts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.corpus.lines import all_lines

# Statutes hold articles far longer than the csv module's default limit of 131,072 characters a field.
MAX_FIELD_CHARS = 2**31 - 1
DELIMITERS = ",;\t"


def csv_rows(
    draft: Draft, path: Path, name: str, *, needed: Sequence[str] = (), delimiter: str = ""
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (place, row by column name) for a CSV file with a header; quoted fields may span lines.

    `needed` lists the required columns, alternatives as "id|_id". Without a `delimiter`, it is guessed from the header:
    comma, semicolon or tab. A row with too many or too few fields is a problem of the draft.
    """
    header: list[str] = []
    for place, values in _placed_rows(draft, path, name, delimiter):
        if not header:
            header = [column.strip() for column in values]
            if not _header_fits(draft, place, header, needed):
                return
        elif len(values) != len(header):
            draft.add_problem(
                place,
                f"the row has {len(values)} fields and the header {len(header)}; "
                "give each row every column, and put a field that holds the separator in quotes",
                refused=values,
            )
        else:
            yield place, dict(zip(header, values, strict=True))


def _placed_rows(draft: Draft, path: Path, name: str, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (place of its first line, fields) for each row that is not blank."""
    problems_before = draft.problem_count
    text = "\n".join(line for _, line in all_lines(draft, path, name))
    if not text.strip():
        if draft.problem_count == problems_before:
            draft.add_problem(f"{name}:1", "the file is empty; name the columns on its first line")
        return
    delimiter = delimiter or max(DELIMITERS, key=text.lstrip().partition("\n")[0].count)
    csv.field_size_limit(MAX_FIELD_CHARS)
    first_line = 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for values in reader:
            if any(value.strip() for value in values):
                yield f"{name}:{first_line}", values
            first_line = reader.line_num + 1
    except csv.Error as error:
        unread = text.split("\n")[first_line - 1 :]
        draft.add_problem(
            f"{name}:{first_line}",
            f"broken quoting in the row that starts here ({error}); write a quote inside a quoted field twice",
            refused=(field.strip(' "') for line in unread for field in line.split(delimiter)),
        )


def _header_fits(draft: Draft, place: str, header: Sequence[str], needed: Sequence[str]) -> bool:
    missing = [names.replace("|", " or ") for names in needed if not set(names.split("|")) & set(header)]
    doubled = [column for column in dict.fromkeys(header) if column and header.count(column) > 1]
    if missing:
        draft.add_problem(
            place, f"no column {', '.join(missing)} (found: {', '.join(header)}); name every needed column on this line"
        )
    if doubled:
        draft.add_problem(place, f"column {', '.join(doubled)} appears twice; column names must be unique")
    return not missing and not doubled
