"""Statutes as plain text, such as `pdftotext -layout` writes: its pages lose what heads and foots them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.law.draft import Draft
from statgraph.law.lines import all_lines

_PAGE_BREAK = "\f"
_MOST_OF_PAGES = 0.5
_PAGE_NUMBER = re.compile(r"(?:[^\W\d_]+\s)?[-–—\s]*\d{1,4}(?:\s*/\s*\d{1,4})?[-–—\s]*")


def read_text(draft: Draft, path: Path, name: str) -> DocumentLines:
    """Return the lines of a text file, blank ones between paragraphs."""
    pages: list[list[Line]] = [[]]
    heads_and_feet: list[tuple[str, str]] = []
    for place, text in all_lines(draft, path, name):
        first, *others = unicodedata.normalize("NFC", text).split(_PAGE_BREAK)
        pages[-1].append(Line(place, first))
        pages += [[Line(place, other)] for other in others]
    if len(pages) > 1:
        pages = [_trimmed(page) for page in pages]
        for at in (0, -1):
            heads = Counter(_without_digits(page[at].text) for page in pages if page)
            for page in filter(None, pages):
                repeated = heads[_without_digits(page[at].text)] > max(1, _MOST_OF_PAGES * len(pages))
                if repeated or _PAGE_NUMBER.fullmatch(page[at].text.strip()):
                    heads_and_feet.append(("heads and feet of pages", page.pop(at).text))
        pages = [_trimmed(page) for page in pages]
    return DocumentLines("", [line for page in pages for line in page], is_wrapped=True, left_out=heads_and_feet)


def walk_text(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every line."""
    with path.open(encoding=draft.reading.encoding, errors="replace", newline="\n") as file:
        yield from ((f"{name}:{number}", line) for number, line in enumerate(file, start=1))


def _trimmed(page: list[Line]) -> list[Line]:
    """Return a page without the blank lines at both ends: a paragraph can go on from page to page."""
    filled = [place for place, line in enumerate(page) if line.text.strip()]
    return page[filled[0] : filled[-1] + 1] if filled else []


def _without_digits(text: str) -> str:
    return re.sub(r"\d+", "", text).strip()


FORMAT = document_format("plain text, an act a file", (".txt", ".text"), read_text, walk_text)
