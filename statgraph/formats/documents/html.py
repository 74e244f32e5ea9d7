"""Statutes as web pages: headings by their tags, lists and tables a line for each item and row.

What of a page is no text of a statute is left out: navigation, hidden parts, footnotes, contents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.numbering import printed_number
from statgraph.formats.documents.outline import CONTENTS, METADATA
from statgraph.law.draft import Draft
from statgraph.law.html_text import (
    BLOCKS,
    CELLS,
    LEVELS,
    PageWalk,
    drop,
    encoding_of_page,
    lines_of,
    note_marks,
    put_on_the_line,
    text_of,
    tree_of,
)
from statgraph.law.lines import all_lines

if TYPE_CHECKING:
    from lxml.html import HtmlElement

NAVIGATION, NOTES, DELETED = "navigation", "notes", "deleted text"  # rules, as in `outline`
MOST_BLOCKS = 10  # of a cell of data; one with more is there to lay out a page
_RULES = {
    **dict.fromkeys(("nav", "footer", "aside", "button", "select", "template", "noscript", "svg"), NAVIGATION),
    **dict.fromkeys(("head", "annotation", "annotation-xml"), METADATA),
    **dict.fromkeys(("rt", "rp"), NOTES),
    "del": DELETED,
}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MIN_CONTENTS, _SAME, _MOST_PIECES = 3, 0.6, 30  # lines of a table of contents; letters, and texts compared, of each
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
    return encoding_of_page(path.read_bytes()) if draft.reading.encoding == "utf-8" else ""


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
    walk = PageWalk(lambda first, text: found.append((first, text)))
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


def plain_line(html: str, left_out: list[tuple[str, str]]) -> str:
    """Return the text of a line of HTML, and add what of it is left out, such as marks of footnotes."""
    if "<" not in html:  # as in most
        return unescape(html)
    root = tree_of(f"<p>{html}")
    left_out += leave_out(root)
    put_on_the_line(root)
    return text_of(root.itertext())


def leave_out(root: HtmlElement) -> list[tuple[str, str]]:
    """Drop what of a page or fragment is no text of a statute, and return it as (rule, text)."""
    left_out: list[tuple[str, str]] = []
    for find in (_unread, _notes, _contents):
        for rule, element in list(find(root)):
            left_out.append((rule, " ".join(element.itertext())))
            drop(element)
    return [(rule, text) for rule, text in left_out if text.strip()]


def _unread(root: HtmlElement) -> Iterator[tuple[str, HtmlElement]]:
    """Yield (rule, element) for what is not read of a page: navigation, and what a browser does not show."""
    below = list(root)
    while below:
        element = below.pop()
        is_hidden = (
            element.get("hidden") is not None
            or element.get("aria-hidden") == "true"
            or element.get("role") == "navigation"
            or _HIDDEN.search(element.get("style") or "")
        )
        if element.tag in _RULES or (is_hidden and element.tag != "body"):
            yield _RULES.get(element.tag, NAVIGATION), element
        else:
            below.extend(reversed(element))


def _notes(root: HtmlElement) -> Iterator[tuple[str, HtmlElement]]:
    """Yield (rule, element) for the marks of footnotes, which are raised links to a place on the page, and for the
    paragraphs further down to which they lead and which begin with the same mark."""
    elements = list(root.iter())
    order = {element: place for place, element in enumerate(elements)}
    places = _places(elements)
    met = set()
    for element, mark, target in note_marks(root):
        yield NOTES, element
        note = _block(places.get(target))
        if note is None or note in met or order[note] < order[element]:
            continue
        begins = f"{note.get('mark') or ''}{''.join(note.itertext())}"
        if re.match(rf"[\s(\[]*{re.escape(mark)}(?!\w)", begins):
            met.add(note)
            yield NOTES, note


def _contents(root: HtmlElement) -> Iterator[tuple[str, HtmlElement]]:
    """Yield (rule, element) for the lines of a table of contents: each is a link to a place that begins with the same
    words, and all these places are further down on the page."""
    from lxml.etree import iterwalk

    texts: list[str] = []
    starts: dict[HtmlElement, int] = {}  # of each element the place of its text
    for event, element in iterwalk(root, events=("start", "end")):
        if event == "start":
            starts[element] = len(texts)
        texts.append(letters(element.text if event == "start" else element.tail))
    places = _places(list(starts))
    lines: dict[HtmlElement, int] = {}  # to the place to which one leads
    for link in root.iter("a"):
        line, target = _block(link), places.get((link.get("href") or "").partition("#")[2])
        if target is None or line is None or line.tag in LEVELS or starts[target] <= starts[line]:
            continue
        words = letters("".join(line.itertext()))
        there = "".join(texts[starts[target] : starts[target] + _MOST_PIECES])
        is_alone = words and words == letters("".join(link.itertext()))
        if is_alone and there.startswith(words[: 1 + int(_SAME * len(words))]):
            lines[line] = starts[target]
    first = min(lines.values(), default=0)
    found = [line for line in lines if starts[line] < first]
    yield from ((CONTENTS, line) for line in found if len(found) >= _MIN_CONTENTS)


def _places(elements: Sequence[HtmlElement]) -> dict[str, HtmlElement]:
    """Return the elements to which links on the page can lead, by their names."""
    return {name: one for one in reversed(elements) if (name := one.get("id") or one.get("name"))}


def _block(element: HtmlElement | None) -> HtmlElement | None:
    """Return the paragraph, item or heading that an element is part of."""
    while element is not None and element.tag not in BLOCKS:
        element = element.getparent()
    return element


def letters(text: str | None) -> str:
    """Return the letters and digits of a text, to compare it."""
    return re.sub(r"\W", "", text or "").casefold()


FORMAT = document_format("web pages, an act a page", (".html", ".htm", ".xhtml"), read_html, walk_html, language_of)
