"""Reading text files line by line so that every problem knows its file and line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.corpus.fields import json_type


def all_lines(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every line of a UTF-8 file, without its line end.

    A byte that is not UTF-8 becomes a problem of the draft; the line still comes, with a mark in the byte's place,
    so that the ids on it are known. A file that cannot be opened is a problem and yields nothing.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                place = f"{name}:{number}"
                if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    draft.add_problem(place, "the file is UTF-16; save it in UTF-8")
                    return
                yield place, _decoded(draft, raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw, place)
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
                place, f"broken JSON at column {error.colno} ({error.msg}); each line must be one JSON object"
            )
            continue
        except (ValueError, RecursionError) as error:
            draft.add_problem(place, f"JSON that cannot be kept ({error}); each line must be one JSON object")
            continue
        if not isinstance(value, dict):
            draft.add_problem(place, f"{json_type(value)} in place of an object; each line must be one JSON object")
        elif "\\ud" in line.lower() and _holds_lone_surrogate(value):
            draft.add_problem(
                place, "a lone surrogate (\\ud800 to \\udfff) is no character; write the character itself"
            )
        else:
            yield place, value


def _decoded(draft: Draft, raw: bytes, place: str) -> str:
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        draft.add_problem(place, f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file in UTF-8")
        line = raw.decode("utf-8", errors="replace")
    return line.rstrip("\r\n")


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def _holds_lone_surrogate(value: dict) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
