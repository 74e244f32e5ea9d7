"""Texts of statutes that come as HTML: the text alone, whether a text holds tags at all, and a page's encoding."""

from __future__ import annotations

import codecs
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

_CHARSET = re.compile(rb"""(?:<meta[^>]+charset|<\?xml[^>]+encoding)\s*=\s*["']?([\w:-]+)""", re.IGNORECASE)
_HEAD_BYTES = 4096
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_READ_AS = {  # as browsers do
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin1", "latin-1", "ascii", "us-ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gb_2312-80", "x-gbk", "gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16be", "unicode"), "utf-8"),  # or the declaration could not be read
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    **dict.fromkeys(("iso-8859-11", "tis-620"), "cp874"),
}


def encoding_of_page(page: bytes) -> str:
    """Return the encoding of an HTML page: that of its byte order mark, UTF-8 if its letters can be that, or what it
    declares; "" where it declares none."""
    declared = _CHARSET.search(page[:_HEAD_BYTES])
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if page.startswith(mark):
            return encoding
    if declared is None or (not page.isascii() and _is_utf8(page)):
        return ""
    name = declared[1].decode().lower()
    return _READ_AS.get(name, name)


def _is_utf8(page: bytes) -> bool:
    try:
        page.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


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
