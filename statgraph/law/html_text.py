"""Texts of statutes that come as HTML: the text alone, and whether a text holds tags at all."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_PARAGRAPH_TAGS = {"p", "br", "div", "tr", "table", "li", "ul", "ol", "center", "h1", "h2", "h3", "h4", "h5", "h6"}
_CELL_TAGS = {"td", "th"}
_UNREAD_TAGS = {"script", "style"}
_OTHER_TAGS = {"a", "b", "blockquote", "em", "font", "i", "img", "span", "strong", "sub", "sup", "tbody", "thead", "u"}
_KNOWN = "|".join(sorted(_PARAGRAPH_TAGS | _CELL_TAGS | _UNREAD_TAGS | _OTHER_TAGS))
# "a < b" and "AT&T" are no HTML.
_HTML = re.compile(rf"</?(?:{_KNOWN})(?:\s[^<>]*)?/?>|&(?:nbsp|amp|lt|gt|quot|#\d+|#x[0-9a-f]+);", re.IGNORECASE)


def has_html(text: str) -> bool:
    """Return whether a text holds tags or entities of HTML."""
    return _HTML.search(text) is not None


def plain_text(html: str) -> str:
    """Return the text of an HTML fragment, one paragraph or table row a line, spaces collapsed."""
    parser = _TextOnly()
    parser.feed(html)
    parser.close()
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(parser.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _TextOnly(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unread = ""

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.pieces.append(re.sub(r"\s+", " ", data))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _UNREAD_TAGS:
            self._unread = tag
        elif tag in _PARAGRAPH_TAGS:
            self.pieces.append("\n")
        elif tag in _CELL_TAGS:
            self.pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD_TAGS:
            self._unread = ""
        else:
            self.handle_starttag(tag, ())
