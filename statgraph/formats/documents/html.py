"""Statutes as web pages: headings by their tags, lists and tables a line for each item and row."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.numbering import printed_number
from statgraph.formats.documents.page_parts import INLINE, LEVELS, contents, notes, unread
from statgraph.law.draft import Draft
from statgraph.law.html_text import encoding_of_page
from statgraph.law.lines import all_lines
from statgraph.law.raised import fraction, raised, with_plain_fractions

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_END = re.compile(r"</(?:html|body)\s*>", re.IGNORECASE)  # behind which lxml reads nothing
_SUPERSCRIPT = re.compile(r"vertical-align\s*:\s*super", re.IGNORECASE)
_SUPERSCRIPT_CLASS = re.compile(r"(?:.*[\s-])?sup(?:er(?:script)?)?(?:\s.*)?", re.IGNORECASE)
_CELLS = ("td", "th")
_EMPTY = re.compile(r"\s?\(\s*\)")  # around the mark of a footnote
_MOST_BLOCKS = 10  # of a cell of data; one with more is there to lay out a page
_MOST_PRE = 0.5  # of the characters of a page whose paragraphs are on a line each
_NUMBERS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*(?:(none)|(lower|upper)-(alpha|latin|roman))", re.IGNORECASE)
# "a)", "1.", "(ii)", "–": of a list whose items are definitions, or written in the text of an item.
_TERM = re.compile(r"(?:[(\[]?(?:\d{1,3}[a-z]{0,2}|[a-z]|[a-z]{1,6}(?=[.)\]]))[.)\]°]*|[-–—•·])", re.IGNORECASE)
OWN_MARK = re.compile(r"(?:[(\[]?(?:\d{1,3}[a-z]{0,2}|[a-z])[.)\]°]+|\(?[ivxl]+\)|[-–—•·])(?:\s|$)", re.IGNORECASE)
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
    except (etree.LxmlError, ValueError, RecursionError):
        draft.add_problem(name, "is not HTML; save the page again, or import it as txt")
        return None


def page_lines(text: str, name: str, lines_before: int = 0) -> DocumentLines:
    """Return the lines of HTML, a page or a part of one that begins after some lines of a file.

    Raises:
        LxmlError, ValueError, RecursionError: if it is no HTML.
    """
    from lxml import etree, html

    if not text.strip():
        return DocumentLines("", ())
    text = with_plain_fractions(unicodedata.normalize("NFC", _END.sub("", text)))
    parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    root = html.document_fromstring(text.encode("utf-8"), parser=parser)
    title = " ".join((root.findtext("./head/title") or "").split())
    etree.strip_elements(root, "script", "style", "title", with_tail=False)
    _mark_list_items(root)
    _mark_superscripts(root)
    left_out: list[tuple[str, str]] = []
    for find in (unread, notes, contents):
        for rule, element in list(find(root)):
            left_out.append((rule, " ".join(element.itertext())))
            element.drop_tree()
    left_out = [(rule, text) for rule, text in left_out if text.strip()]
    for element in [*root.iter("math", "sup")]:
        element.text = _formula(element)
        del element[:]
    lines = list(_lines(root, name, lines_before))
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


def _mark_superscripts(root: HtmlElement) -> None:
    """Make `sup` of what only its style or class raises."""
    for element in root.iter("span", "font", "small"):
        by_class = len(element) == 0 and _SUPERSCRIPT_CLASS.fullmatch(element.get("class") or "")
        if by_class or _SUPERSCRIPT.search(element.get("style") or ""):
            element.tag = "sup"


def _formula(element: HtmlElement) -> str:
    """Return the text of a superscript or formula."""
    tag = str(element.tag).rpartition(":")[2]
    parts = [_formula(child) for child in element]
    if tag == "sup":
        return raised("".join(element.itertext()))
    if tag == "mfrac" and len(parts) == 2:
        return fraction(*parts)
    if tag in ("msup", "msubsup") and parts:
        return "".join((*parts[:-1], raised(parts[-1])))
    if tag in ("msqrt", "mroot"):
        return f"√({parts[0] if tag == 'mroot' and parts else ''.join(parts)})"
    texts = (text for child, part in zip(element, parts, strict=True) for text in (part, child.tail or ""))
    return "".join(map(str.strip, (element.text or "", *texts)))


def _lines(root: HtmlElement, name: str, lines_before: int) -> Iterator[Line]:
    from lxml.etree import iterwalk

    for row in filter(_is_data, root.xpath("//tr")):
        cells = [_cell_text(cell) for cell in row.iterchildren(*_CELLS)]
        row.clear(keep_tail=True)
        row.text = " | ".join(cells)
    pieces: list[str] = []
    term, mark, level, place, is_pre = "", "", 0, 1, False
    for event, element in iterwalk(root, events=("start", "end")):
        tag, starts = str(element.tag), event == "start"
        if tag == "br" and (level or is_pre):
            pieces.append(("\n" if is_pre else " ") * starts)
        elif not _is_inline(tag):
            text = _EMPTY.sub("", "".join(pieces))
            texts = [line.rstrip() for line in text.split("\n")] if is_pre else [" ".join(text.split())]
            pieces.clear()
            if tag == "dt" and not starts and _TERM.fullmatch(texts[0]):
                texts, term = [term.strip()], f"{texts[0]} "
            elif any(texts):
                texts[0] = f"{term}{texts[0]}"
                texts[0] = texts[0] if OWN_MARK.match(texts[0]) else f"{mark}{texts[0]}"
                term = mark = ""
            elif tag in ("dt", "dl"):
                texts, term = [term.strip()], ""
            for offset, line in enumerate(texts if any(texts) else ()):
                yield Line(f"{name}:{lines_before + place + offset}", line, level)
            place = (starts and element.sourceline) or place
        if tag in LEVELS:
            level = LEVELS[tag] if starts else 0
        elif tag == "pre":
            is_pre = starts
        elif tag == "li":
            mark = (starts and element.get("mark")) or ""
        pieces.append((element.text if starts else element.tail) or "")


def _is_inline(tag: str) -> bool:
    """Return whether a tag is inside a paragraph; those of Word's pages are: `o:p`, `st1:place`."""
    return tag in INLINE or ":" in tag


def _is_data(row: HtmlElement) -> bool:
    """Return whether a row holds data, and is not there to lay out a page."""
    cells = list(row.iterchildren(*_CELLS))
    beside = [row.text, *(child.tail for child in row)]
    if len(cells) < 2 or len(cells) < len(row) or any(text and text.strip() for text in beside):
        return False
    return not any(
        next(cell.iter("table", *LEVELS), None) is not None or len(cell.xpath(".//p|.//br|.//li|.//div")) > _MOST_BLOCKS
        for cell in cells
    )


def _cell_text(cell: HtmlElement) -> str:
    """Return the text of a cell on one line, its paragraphs and list items divided by blanks."""
    from lxml.etree import iterwalk

    pieces = []
    for event, element in iterwalk(cell, events=("start", "end")):
        mark = (event == "start" and element.get("mark", "").strip("- ")) or ""
        pieces += [" " * (not _is_inline(str(element.tag))), f"{mark} " * bool(mark)]
        pieces.append((element.text if event == "start" else element.tail if element is not cell else "") or "")
    return " ".join("".join(pieces).split())


def walk_html(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of all text in a file but for scripts and styles."""
    texts = _Texts()
    texts.feed(path.read_bytes().decode(_encoding_of(path, draft) or draft.reading.encoding, errors="replace"))
    texts.close()
    for first, text in texts.found:
        for offset, line in enumerate(text.split("\n")):
            yield f"{name}:{first + offset}", line


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []  # the line on which a text begins, and the text

    def handle_data(self, data: str) -> None:
        if self.cdata_elem not in ("script", "style"):
            self.found.append((self.getpos()[0], data))


def language_of(source: Path) -> str | None:
    """Return the language that a page says it is in, None for a folder or a page that does not say it."""
    if source.is_dir():
        return None
    with source.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    declared = _LANGUAGE.search(head) or _META_LANGUAGE.search(head)
    return declared[1].decode().lower() if declared else None


FORMAT = document_format("web pages, an act a page", (".html", ".htm", ".xhtml"), read_html, walk_html, language_of)
