"""Files of office programs, which are zip archives of XML: what docx and xlsx have in common."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from statgraph.errors import reason_of
from statgraph.law.draft import Draft

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_UNPACKED_BYTES = 512 << 20
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"


def is_readable(draft: Draft, path: Path, name: str, part: str) -> bool:
    """Return whether a file is an archive with a part, such as "word/document.xml", that can be unpacked; else the
    problem is recorded."""
    problem = _problem(path, part)
    if problem:
        draft.add_problem(name, problem)
    return not problem


def _problem(path: Path, part: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        with path.open("rb") as file:
            if file.read(len(_OLD_OFFICE)) == _OLD_OFFICE:
                return f"is protected by a password or of an old format; open it and save it as {path.suffix}"
        return f"is damaged ({reason_of(error)}); save it again"
    if part not in sizes:
        return f"holds no {part}, as a file that ends in {path.suffix} should; save it again"
    unpacked = sum(sizes.values())
    if unpacked > MAX_UNPACKED_BYTES:
        return f"unpacks to {unpacked >> 20:,} MiB, and at most {MAX_UNPACKED_BYTES >> 20} are read; split it"
    return ""


def find(element: Any, path: str) -> Any:
    """Return the element of a word processor's file that is below another, such as "pPr/numPr", or None."""
    return element.find("/".join(f"{W}{name}" for name in path.split("/")))


def value(element: Any, path: str) -> str:
    """Return the value of an element below another; "" if it has none."""
    found = find(element, path)
    return "" if found is None else found.get(f"{W}val") or ""
