"""What the tools share: files of law, values in YAML, and the places of tables on the pages of docs/."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
_NO_LAW = (".txt", ".json", ".py", ".md")


def law_files(folder: Path) -> Iterator[Path]:
    """Yield the files of law in a folder that has a folder for each format."""
    return (path for path in sorted(folder.glob("*/*")) if path.suffix not in _NO_LAW)


def read_yaml(path: Path) -> Any:
    """Return what a YAML file holds."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def with_tables(page: Path, lines: Iterable[str]) -> str:
    """Return the text of a page with lines between its marks; what people wrote around them stays.

    Raises:
        ValueError: if the page has no such marks.
    """
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{page}: no '{BEGIN}' and '{END}'; write them where the tables belong")
    return "\n".join([before + begin, "", *lines, "", end + after])
