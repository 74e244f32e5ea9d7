"""Statutes as web pages: headings by their tags, lists and tables a line for each item and row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.law.draft import Draft
from statgraph.law.lines import all_lines

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_UNREAD = ("head", "script", "style", "noscript", "template", "nav", "footer", "aside", "button", "select")
# Tags inside a paragraph; all others end one.
_INLINE = {
    *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img"),
    *("ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt"),
    *("u", "var", "wbr"),
}
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_CELLS = ("td", "th")
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_LANGUAGE = re.compile(rb"""<html[^>]*?\slang\s*=\s*["']?([a-z]{2,3})\b""", re.IGNORECASE)
_HEAD_BYTES = 4096


def read_html(draft: Draft, path: Path, name: str) -> DocumentLines | None:
    """Return the lines of a page: each paragraph, heading, list item and table row."""
    from lxml import etree, html

    with path.open("rb") as file:
        declared = _CHARSET.search(file.read(_HEAD_BYTES))
    encoding = declared[1].decode() if declared and draft.reading.encoding == "utf-8" else ""
    text = "\n".join(line for _, line in all_lines(draft, path, name, encoding=encoding))
    if not text.strip():
        return DocumentLines("", ())
    try:
        parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False)
        root = html.document_fromstring(text.encode("utf-8"), parser=parser)
    except (etree.LxmlError, ValueError):
        draft.add_problem(name, "is not HTML; save the page again, or import it as txt")
        return None
    title = " ".join((root.findtext(".//title") or "").split())
    for unread in [*root.iter(*_UNREAD, etree.Comment, etree.ProcessingInstruction)]:
        if unread.getparent() is not None:
            unread.drop_tree()
    return DocumentLines(title, list(_lines(root, name)))


def walk_html(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of all that stands in a file."""
    document = read_html(draft, path, name)
    return ((line.place, line.text) for line in (document.lines if document else ()))


def _lines(root: HtmlElement, name: str) -> Iterator[Line]:
    from lxml.etree import iterwalk

    for row in filter(_is_data, root.xpath("//tr")):
        cells = [" ".join(cell.text_content().split()) for cell in row.iterchildren(*_CELLS)]
        row.clear(keep_tail=True)
        row.text = " | ".join(cells)
    pieces: list[str] = []
    mark, level, place = "", 0, 0
    for event, element in iterwalk(root, events=("start", "end")):
        tag, starts = element.tag, event == "start"
        if tag == "br" and level:
            pieces.append(" ")
        elif tag not in _INLINE:
            text = " ".join("".join(pieces).split())
            if text:
                yield Line(f"{name}:{place}", f"{mark}{text}", level)
            mark = "" if text or tag == "li" else mark
            pieces.clear()
            place = element.sourceline or place
        if tag in _LEVELS:
            level = _LEVELS[tag] if starts else 0
        if tag == "li" and starts:
            mark = _mark(element)
        pieces.append((element.text if starts else element.tail) or "")


def _is_data(row: HtmlElement) -> bool:
    """Return whether a row holds data, and is not there to lay out a page."""
    cells = list(row.iterchildren(*_CELLS))
    return len(cells) > 1 and not any(
        cell.find(f".//{tag}") is not None for cell in cells for tag in ("table", *_LEVELS)
    )


def _mark(item: HtmlElement) -> str:
    above = item.getparent()
    if above is None or above.tag != "ol":
        return "- "
    number = sum(1 for _ in item.itersiblings("li", preceding=True)) + int(above.get("start", "1") or 1)
    kind = above.get("type", "1")
    return f"{chr(ord(kind) + number - 1)}) " if kind in ("a", "A") and number <= 26 else f"{number}. "


def language_of(source: Path) -> str | None:
    """Return the language that a page says it is in, None for a folder or a page that does not say it."""
    if source.is_dir():
        return None
    with source.open("rb") as file:
        declared = _LANGUAGE.search(file.read(_HEAD_BYTES))
    return declared[1].decode().lower() if declared else None


FORMAT = document_format("web pages, an act a page", (".html", ".htm", ".xhtml"), read_html, walk_html, language_of)
