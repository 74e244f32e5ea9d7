"""Statutes as web pages: headings by their tags, lists and tables a line for each item and row."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.numbering import printed_number
from statgraph.formats.documents.page_parts import MOST_BLOCKS, leave_out
from statgraph.law.draft import Draft
from statgraph.law.html_text import (
    CELLS,
    LEVELS,
    UNREAD,
    PageWalk,
    encoding_of_page,
    lines_of,
    put_on_the_line,
    tree_of,
)
from statgraph.law.lines import all_lines

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_PRE = 0.5  # of the characters of a page whose paragraphs are on a line each
_NUMBERS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*(?:(none)|(lower|upper)-(alpha|latin|roman))", re.IGNORECASE)
_LANGUAGE = re.compile(rb"""<(?:html|body)[^>]*?\s(?:xml:)?lang\s*=\s*["']?([a-z]{2,3})\b""", re.IGNORECASE)
_META_LANGUAGE = re.compile(
    rb"""<meta(?=[^>]+(?:content-language|["'](?:dc\.)?language["']))[^>]+content\s*=\s*["']?([a-z]{2,3})\b""",
    re.IGNORECASE,
)
_HEAD_BYTES = 4096


def read_html(draft: Draft, path: Path, name: str) -> DocumentLines | None:
    """Return the lines of a page: each paragraph, heading, list item and table row."""
    from lxml import etree

    problems_before = draft.problem_count
    text = "\n".join(line for _, line in all_lines(draft, path, name, encoding=_encoding_of(path, draft)))
    if draft.problem_count > problems_before:
        return None
    try:
        return page_lines(text, name)
    except etree.LxmlError:
        draft.add_problem(name, "is not HTML; save the page again, or import it as txt")
        return None


def page_lines(text: str, name: str, lines_before: int = 0) -> DocumentLines:
    """Return the lines of HTML, a page or a part of one that begins after some lines of a file.

    Raises:
        LxmlError: if it holds no element and no text.
    """
    from lxml import etree

    if not text.strip():
        return DocumentLines("", ())
    root = tree_of(unicodedata.normalize("NFC", text))
    title = " ".join((root.findtext("./head/title") or "").split())
    etree.strip_elements(root, "title", with_tail=False)
    _mark_list_items(root)
    left_out = leave_out(root)
    put_on_the_line(root)
    for row in filter(_is_data, root.xpath("//tr")):
        cells = [_cell_text(cell) for cell in row.iterchildren(*CELLS)]
        row.clear(keep_tail=True)
        row.text = " | ".join(cells)
    lines = [Line(f"{name}:{lines_before + place}", text, level) for place, text, level in lines_of(root)]
    n_pre = sum(len("".join(pre.itertext())) for pre in root.iter("pre"))
    is_wrapped = n_pre > _MOST_PRE * sum(len(line.text) for line in lines)
    return DocumentLines(title, lines, is_wrapped=is_wrapped, left_out=left_out)


def _encoding_of(path: Path, draft: Draft) -> str:
    """Return the encoding of a page, "" for that of the draft, which the user names."""
    try:
        return encoding_of_page(path.read_bytes()) if draft.reading.encoding == "utf-8" else ""
    except OSError:
        return ""  # which is reported where its lines are read


def _mark_list_items(root: HtmlElement) -> None:
    """Set the attribute `mark` of each list item to what is printed before it: "3. ", "b) ", "- "."""
    for above in root.iter("ol", "ul", "menu"):
        items = above.findall("li")
        style = _LIST_STYLE.search(above.get("style") or "")
        kind = _NUMBERS.get(above.get("type") or "", "")
        if style and not style[1]:
            kind = f"{style[2].lower()}{'Roman' if style[3].lower() == 'roman' else 'Letter'}"
        step = -1 if above.get("reversed") is not None else 1
        number = _integer(above.get("start"), len(items) if step < 0 else 1)
        for item in items:
            number = _integer(item.get("value"), number)
            mark = (
                "- "
                if above.tag != "ol"
                else f"{printed_number(number, kind)}{')' if kind.endswith('Letter') else '.'} "
            )
            item.set("mark", "" if style and style[1] else mark)
            number += step


def _integer(text: str | None, otherwise: int) -> int:
    return int(text) if text and re.fullmatch(r"-?\d{1,9}", text.strip()) else otherwise


def _is_data(row: HtmlElement) -> bool:
    """Return whether a row holds data, and is not there to lay out a page."""
    cells = list(row.iterchildren(*CELLS))
    beside = [row.text, *(child.tail for child in row)]
    if len(cells) < 2 or len(cells) < len(row) or any(text and text.strip() for text in beside):
        return False
    return not any(
        next(cell.iter("table", *LEVELS), None) is not None or len(cell.xpath(".//p|.//br|.//li|.//div")) > MOST_BLOCKS
        for cell in cells
    )


def _cell_text(cell: HtmlElement) -> str:
    """Return the text of a cell on one line, its paragraphs and list items divided by blanks."""
    for item in cell.iter("li"):
        item.set("mark", item.get("mark", "").removeprefix("- "))
    return " ".join(" ".join(text for _, text, _ in lines_of(cell)).split())


def walk_html(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of all text in a file but for scripts and styles."""
    found: list[tuple[int, str]] = []
    walk = PageWalk(lambda first, text: found.append((first, text)), UNREAD)
    walk.feed(path.read_bytes().decode(_encoding_of(path, draft) or draft.reading.encoding, errors="replace"))
    walk.close()
    for first, text in found:
        yield from ((f"{name}:{line}", part) for line, part in enumerate(text.split("\n"), start=first))


def language_of(source: Path) -> str | None:
    """Return the language that a page says it is in, None for a folder or a page that does not say it."""
    if source.is_dir():
        return None
    with source.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    declared = _LANGUAGE.search(head) or _META_LANGUAGE.search(head)
    return declared[1].decode().lower() if declared else None


FORMAT = document_format("web pages, an act a page", (".html", ".htm", ".xhtml"), read_html, walk_html, language_of)
