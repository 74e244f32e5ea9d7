"""Reading text files line by line so that every problem knows its file and line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.corpus.fields import json_type


def all_lines(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every line of a UTF-8 file, without its line end.

    The first byte that is not UTF-8 becomes a problem of the draft, which says how many lines hold more; each line
    still comes, with a mark in the byte's place, so that the ids on it are known. A file that cannot be opened is a
    problem and yields nothing.
    """
    is_utf8 = True
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                place = f"{name}:{number}"
                if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    draft.add_problem(place, "the file is UTF-16; save it in UTF-8")
                    return
                raw = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                if is_utf8 and (byte := _foreign_byte(raw)):
                    is_utf8 = False
                    draft.add_problem(place, f"byte {byte} is not UTF-8{_foreign_after(path, number)}")
                yield place, raw.decode("utf-8", errors="replace").rstrip("\r\n")
    except OSError as error:
        draft.add_problem(name, f"cannot be read ({error.strerror}); put a readable text file there")


def decoded_lines(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for each line of a UTF-8 file that is not blank."""
    return ((place, line) for place, line in all_lines(draft, path, name) if line.strip())


def json_lines(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, dict]]:
    """Yield (place, object) for each line of a JSONL file; a broken line becomes a problem of the draft."""
    for place, line in decoded_lines(draft, path, name):
        try:
            value = json.loads(line, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            draft.add_problem(
                place,
                f"broken JSON at column {error.colno} ({error.msg}); each line must be one JSON object",
                refused=line.split('"'),
            )
            continue
        except (ValueError, RecursionError) as error:
            draft.add_problem(
                place, f"JSON that cannot be kept ({error}); each line must be one JSON object", refused=line.split('"')
            )
            continue
        if not isinstance(value, dict):
            draft.add_problem(place, f"{json_type(value)} in place of an object; each line must be one JSON object")
        elif "\\ud" in line.lower() and _holds_lone_surrogate(value):
            draft.add_problem(
                place,
                "a lone surrogate (\\ud800 to \\udfff) is no character; write the character itself",
                refused=line.split('"'),
            )
        else:
            yield place, value


def _foreign_byte(raw: bytes) -> str:
    """Return the first byte that is not UTF-8, written like "0xe9"; "" where there is none."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"0x{raw[error.start]:02x}"
    return ""


def _foreign_after(path: Path, number: int) -> str:
    """Return how many lines after a line hold such bytes too, and the remedy."""
    with path.open("rb") as file:
        lines = sum(1 for raw in islice(file, number, None) if _foreign_byte(raw))
    more = f", nor are bytes on {lines} more line{'s' if lines > 1 else ''}" if lines else ""
    return f"{more}; save the file in UTF-8"


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def _holds_lone_surrogate(value: dict) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
