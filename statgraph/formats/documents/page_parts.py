"""What of a web page is no text of a statute: navigation, hidden parts, footnotes, contents; a line without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import TYPE_CHECKING

from statgraph.law.html_text import BLOCKS, LEVELS, drop, note_marks, put_on_the_line, text_of, tree_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

NAVIGATION, NOTES, METADATA, CONTENTS, DELETED = "navigation", "notes", "metadata", "contents", "deleted text"
MOST_BLOCKS = 10  # of a cell of data; one with more is there to lay out a page
_RULES = {
    **dict.fromkeys(("nav", "footer", "aside", "button", "select", "template", "noscript", "svg"), NAVIGATION),
    **dict.fromkeys(("head", "annotation", "annotation-xml"), METADATA),
    **dict.fromkeys(("rt", "rp"), NOTES),
    "del": DELETED,
}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MIN_CONTENTS, _SAME, _MOST_PIECES = 3, 0.6, 30  # lines of a table of contents; letters, and texts compared, of each


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
