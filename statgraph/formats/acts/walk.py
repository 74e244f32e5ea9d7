"""A document that is counted while it is read: the text between its tags goes into an account, with its line.

The walk knows nothing of articles, and parses on its own: XML with Expat, pages with Python's own parser.
"""

from __future__ import annotations

import codecs
import re
from html.parser import HTMLParser
from xml.parsers import expat

from statgraph.errors import CorpusError
from statgraph.formats.acts.documents import Document
from statgraph.law.account import Account

_BUFFER_BYTES = 1 << 16
_CHARSET = re.compile(rb"""(?:<\?xml[^>]*?\sencoding|<meta[^>]*?charset)\s*=\s*["']?\s*([\w.:\-]+)""", re.IGNORECASE)
_OF_EXPAT = ("utf-8", "utf-16")
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_AS_BROWSERS_DO = {"iso8859-1": "cp1252", "ascii": "cp1252"}


class CountedDocument:
    """A document to be read once; a page comes as UTF-8, in whatever charset it is declared to be."""

    def __init__(self, document: Document, account: Account, syntax: str):
        self._document, self._name, self._read = document, document.name, account.read
        self._problem = ""
        self._page = _Page(self._name, account) if syntax == "html" else None
        declared = charset_of(document.head)
        self._charset = _AS_BROWSERS_DO.get(declared, declared) if self._page else declared
        self._decoder = codecs.getincrementaldecoder(self._charset)()
        self._is_decoded = self._page is not None or declared not in _OF_EXPAT
        self._parser = expat.ParserCreate()
        self._parser.buffer_text, self._parser.buffer_size, self._parser.ordered_attributes = True, _BUFFER_BYTES, True
        self._parser.CharacterDataHandler = self._text
        self.names: set[str] = self._page.names if self._page else set()  # of the elements
        self._parser.StartElementHandler = lambda name, attributes: self.names.add(name)  # ends a piece of text
        self._parser.EndElementHandler = lambda name: None

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, b"" at the end."""
        data = self._document.read(size)
        try:
            text = self._decoder.decode(data, final=not data) if self._is_decoded else data
        except UnicodeDecodeError:
            charset = self._charset.upper()
            self._problem = f": holds bytes that are not {charset}, as it is declared to be or by default"
            self._decoder = codecs.getincrementaldecoder(self._charset)("replace")  # `check` says it
            text = self._decoder.decode(data, final=not data)
        if self._page is not None and isinstance(text, str):
            self._page.feed(text)
            if not data:
                self._page.close()
            return text.encode()
        if not self._problem:
            try:
                self._parser.Parse(text, not data)
            except expat.ExpatError as error:
                self._problem = f":{error.lineno}: not well-formed XML ({expat.ErrorString(error.code)})"
        return data

    def check(self) -> None:
        """Raise a CorpusError if the document could not be read to its end."""
        if self._problem:
            raise CorpusError(f"{self._name}{self._problem}; correct it, or convert it to UTF-8")

    def _text(self, text: str) -> None:
        if not text.isspace():
            line = self._parser.CurrentLineNumber
            if "\n" in text:
                line -= text.lstrip().count("\n")
            self._read(self._name, text, line=line)


class _Page(HTMLParser):
    def __init__(self, name: str, account: Account):
        super().__init__()
        self._name, self._account, self.names = name, account, set[str]()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)

    def handle_data(self, data: str) -> None:
        if not data.isspace():
            line = self.getpos()[0]
            line += data[: len(data) - len(data.lstrip())].count("\n")
            self._account.read(self._name, data, line=line)


def charset_of(head: bytes) -> str:
    """Return the charset that a file's beginning declares, as Python names it: "utf-8" if it declares none."""
    bom = next((name for bom, name in _BOMS.items() if head.startswith(bom)), "")
    declared = _CHARSET.search(head)
    try:
        return bom or codecs.lookup(declared[1].decode() if declared else "utf-8").name
    except LookupError:
        return "utf-8"
