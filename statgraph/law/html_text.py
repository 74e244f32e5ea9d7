"""Texts of statutes that come as HTML: the text alone, and whether a text holds tags at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from statgraph.law.raised import raised, with_plain_fractions

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
    """Return the text of an HTML fragment, one paragraph or table row a line, spaces collapsed.

    Superscripts are as `raised` writes them, but for marks of footnotes, which are left out.
    """
    parser = _TextOnly()
    parser.feed(with_plain_fractions(html))
    parser.close()
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(parser.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _TextOnly(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unread = ""
        self._raised: list[str] | None = None  # the pieces of a superscript
        self._link: list[str] | None = (
            None  # those of a link to a place on the page, a mark of a footnote if it is raised
        )

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self._add(re.sub(r"\s+", " ", data))

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag in _UNREAD_TAGS:
            self._unread = tag
        elif tag in _PARAGRAPH_TAGS:
            self._add("\n")
        elif tag in _CELL_TAGS:
            self._add(" ")
        elif tag == "sup":
            self._raised = []
        elif tag == "a" and (dict(attrs).get("href") or "").startswith("#"):
            self._link = []

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD_TAGS:
            self._unread = ""
        elif tag == "sup" and self._raised is not None:
            is_mark = self._link is not None and "".join(self._link).strip() == "".join(self._raised).strip()
            self.pieces.append("" if is_mark else raised("".join(self._raised)))
            self._raised, self._link = None, None if is_mark else self._link
        elif tag == "a" and self._raised is None:
            self._link = None
        elif tag in _PARAGRAPH_TAGS | _CELL_TAGS:
            self.handle_starttag(tag, ())

    def close(self) -> None:
        super().close()
        self.handle_endtag("sup")

    def _add(self, text: str) -> None:
        (self.pieces if self._raised is None else self._raised).append(text)
        if self._link is not None:
            self._link.append(text)
