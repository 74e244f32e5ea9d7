"""JSON Lines and CSV rows, each with the line on which it starts."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from math import isfinite
from pathlib import Path
from typing import Any

from statgraph.errors import option, readable, reason_of
from statgraph.law.draft import Draft

# Statutes hold articles far longer than the csv module's default limit of 131,072 characters a field.
MAX_FIELD_CHARS = 2**31 - 1
DELIMITERS = ",;\t"
_DECLARED_DELIMITER = re.compile(r'"?sep=(.)"?(?=\n)', re.IGNORECASE)  # the first line of tables for Excel
_LONGEST_CELL = 20  # characters that are looked at for what follows
MISSING = ("nan", "NaN", "NaT", "<NA>", "None")  # what a table library writes into an empty cell
_FOREIGN, _SURROGATE = re.compile("[\udc80-\udcff]"), re.compile("[\ud800-\udfff]")
_UTF_16 = ("\udcff\udcfe", "\udcfe\udcff")  # its byte order marks


@contextmanager
def in_a_file(source: Path | str) -> Iterator[Path]:
    """Give the path of a source; of a pipe, such as `/dev/stdin` or `<(...)`, which can be read only once, that of a
    file with what it holds."""
    path = Path(source)
    with readable(path):
        is_pipe = path.exists() and not path.is_file() and not path.is_dir()
    if not is_pipe:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "pipe"
        with readable(path), path.open("rb") as pipe, copy.open("wb") as file:
            shutil.copyfileobj(pipe, file)
        yield copy


def all_lines(draft: Draft, path: Path, name: str, *, encoding: str = "") -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every line of a file, without its line end, in the encoding that it declares or else the
    draft's.

    In UTF-8, lines with other bytes are still yielded, with replacement characters, so that their ids are known; once
    all lines are read, the first such byte is a problem of the draft. So is a file that cannot be opened, or is not in
    the encoding that was named.
    """
    encoding = (encoding or draft.reading.encoding).lower()
    is_utf8 = encoding in ("utf-8", "utf8")
    foreign: list[str] = []
    try:
        # A byte that is not UTF-8 is read as a lone surrogate.
        errors = "surrogateescape" if is_utf8 else "strict"
        with path.open(encoding=encoding, errors=errors, newline="\n") as file:
            for number, line in enumerate(file, start=1):
                place = f"{name}:{number}"
                if number == 1 and line.startswith(_UTF_16):
                    draft.add_problem(
                        place,
                        "the file is UTF-16; save it as UTF-8, or 'statgraph import' it "
                        f"with {option('encoding')} utf-16",
                    )
                    return
                if number == 1 and "\0" in line:
                    order = "be" if line.startswith("\0") else "le"
                    name_it = f"if it is UTF-16, 'statgraph import' it with {option('encoding')} utf-16-{order}"
                    draft.add_problem(place, f"the file holds NUL bytes; {name_it}")
                    return
                line = line.removeprefix("\ufeff") if number == 1 else line
                if is_utf8 and not line.isascii() and (found := _FOREIGN.search(line)):
                    foreign.append(f"{place}: byte 0x{ord(found[0]) - 0xDC00:02x}")
                    line = _FOREIGN.sub("\ufffd", line)
                yield place, line.rstrip("\r\n")
    except OSError as error:
        draft.add_problem(name, f"cannot be read ({error.strerror}); put a readable text file there")
    except (UnicodeError, LookupError) as error:
        draft.add_problem(
            name, f"is not in the encoding {encoding} ({reason_of(error)}); name another with {option('encoding')}"
        )
    if foreign:
        left = len(foreign) - 1
        more = f" (nor are bytes on {left} more line{'s' if left > 1 else ''})" if left else ""
        place, _, byte = foreign[0].rpartition(": ")
        draft.add_problem(
            place, f"{byte} is not UTF-8{more}; save it as UTF-8, or 'statgraph import' it with {option('encoding')}"
        )


def decoded_lines(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for each line of a UTF-8 file that is not blank."""
    return ((place, line) for place, line in all_lines(draft, path, name) if line.strip())


def json_lines(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) for each line of a JSONL file; an invalid line becomes a problem of the draft."""
    return json_objects(draft, decoded_lines(draft, path, name))


def json_objects(draft: Draft, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) for each (place, line); an invalid line becomes a problem of the draft."""
    for place, line in lines:
        try:
            value = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            where = (
                f" at column {error.colno} ({error.msg})" if isinstance(error, json.JSONDecodeError) else f" ({error})"
            )
            problem = f"invalid JSON{where}; each line must be one JSON object"
            draft.add_problem(place, problem, refused=line.split('"'))
            continue
        if not isinstance(value, dict):
            draft.add_problem(place, f"{json_type(value)} instead of an object; each line must be one JSON object")
        elif ("\\ud" in line or "\\uD" in line) and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
            draft.add_problem(
                place,
                "contains a lone surrogate (\\ud800 to \\udfff); write the character itself",
                refused=line.split('"'),
            )
        else:
            draft.report.read_cells(place, list(value.values()))
            names = draft.named_columns(tuple(value))
            yield place, {name: held for of, held in zip(names, value.values(), strict=True) for name in of}


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def csv_rows(
    draft: Draft,
    path: Path,
    name: str,
    *,
    needed: Sequence[str] = (),
    delimiter: str = "",
    missing: Collection[str] = MISSING,
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (place, row by column name) for a CSV file with a header; quoted fields may span lines.

    Without a `delimiter`, it is that of a first line `sep=;`, else guessed from the header: comma, semicolon or tab.
    `needed` is that of `named_rows`, `missing` what counts as an empty field.
    """
    return named_rows(
        draft,
        csv_fields(draft, path, name, delimiter, missing),
        needed=needed,
        remedy="name every needed column on this line",
    )


def named_rows(
    draft: Draft, rows: Iterable[tuple[str, list[str]]], *, needed: Sequence[str] = (), remedy: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (place, row by column name) for the rows of a table, the first of which is its header.

    `needed` lists the required columns, alternatives as "id|_id", and `remedy` says what to do where one is missing. A
    row with too many or too few fields is a problem of the draft.
    """
    header: list[tuple[str, ...]] = []
    for place, values in rows:
        if not header:
            header = draft.named_columns(tuple(values))
            draft.report.keep_cells(values)
            known = [name for names in header for name in names]
            missing = [names.replace("|", " or ") for names in needed if not set(names.split("|")) & set(known)]
            if missing:  # the file's own names: the user knows no others
                draft.add_problem(place, f"no column {', '.join(missing)} (found: {', '.join(values)}); {remedy}")
            doubled = [name for name in dict.fromkeys(known) if name and known.count(name) > 1]
            if doubled:
                draft.add_problem(place, f"column {', '.join(doubled)} appears twice; column names must be unique")
            if doubled or missing:
                return
        elif len(values) != len(header):
            draft.add_problem(
                place,
                f"the row has {len(values)} fields and the header {len(header)}; "
                "give each row every column, and put a field that holds the separator in quotes",
                refused=values,
            )
        else:
            yield place, {name: value for names, value in zip(header, values, strict=True) for name in names}


def csv_fields(
    draft: Draft, path: Path, name: str, delimiter: str = "", missing: Collection[str] = MISSING
) -> Iterator[tuple[str, list[str]]]:
    """Yield (place of its first line, fields) for each row of a CSV file that is not blank."""
    problems_before = draft.problem_count
    text = "\n".join(line for _, line in all_lines(draft, path, name))
    if not text.strip():
        if draft.problem_count == problems_before:
            draft.add_problem(f"{name}:1", "the file is empty; name the columns on its first line")
        return
    if declared := _DECLARED_DELIMITER.match(text):
        delimiter = delimiter or declared[1]
        text = text[declared.end() :]
    delimiter = delimiter or max(DELIMITERS, key=text.lstrip().partition("\n")[0].count)
    csv.field_size_limit(MAX_FIELD_CHARS)
    first_line = 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for values in reader:
            if any(value.strip() for value in values):
                values = ["" if len(value) < _LONGEST_CELL and value.strip() in missing else value for value in values]
                draft.report.read_cells(f"{name}:{first_line}", values)
                yield f"{name}:{first_line}", values
            first_line = reader.line_num + 1
    except csv.Error as error:
        unread = text.split("\n")[first_line - 1 :]
        draft.add_problem(
            f"{name}:{first_line}",
            f"broken quoting in the row that starts here ({error}); write a quote inside a quoted field twice",
            refused=(field.strip(' "') for line in unread for field in line.split(delimiter)),
        )


def table_value(value: Any) -> Any:
    """Return a value of a table as JSON has it: None where a library says that it is missing, a number for NumPy's, the
    text of a date, a decimal, bytes or whatever else JSON lacks, in lists and objects too."""
    if type(value) is str:
        return None if len(value) < _LONGEST_CELL and value.strip() in MISSING else value
    if isinstance(value, float | date) or type(value).__name__ == "NAType":
        if str(value) in MISSING:
            return None
        if isinstance(value, datetime) and value.time() == time():
            value = value.date()
        if isinstance(value, date):
            return value.isoformat()
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _nested_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return list(map(_nested_value, value))
    if hasattr(value, "tolist"):  # NumPy's
        return table_value(value.tolist())
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _nested_value(value: Any) -> Any:
    return value if type(value) is str else table_value(value)


_TYPE_NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    tuple: "a list",
}


def json_type(value: object) -> str:
    """Return what JSON calls a value: "a list", "a number", "null"..."""
    return "null" if value is None else _TYPE_NAMES.get(type(value), "an object")
