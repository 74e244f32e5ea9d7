"""A document that is counted while it is read: the text between its tags goes into an account, with its line.

The walk knows nothing of articles, and parses on its own: XML with Expat, pages with Python's own parser.
"""

from __future__ import annotations

import codecs
import re
from xml.parsers import expat

from statgraph.errors import CorpusError
from statgraph.formats.acts.documents import Document
from statgraph.law.account import Account
from statgraph.law.html_text import AS_BROWSERS_DO, PageWalk, declared_encoding, with_xml_characters

_BUFFER_BYTES = 1 << 16
_CUT_REFERENCE = re.compile(rb"&#?\w{0,9}\Z")
_OF_EXPAT = ("utf-8", "utf-16")


class CountedDocument:
    """A document to be read once; a page comes as UTF-8, in whatever charset it is declared to be, without
    what XML cannot hold."""

    def __init__(self, document: Document, account: Account, syntax: str):
        self._document, self._name, self._read = document, document.name, account.read
        self._problem = ""
        self._page = PageWalk(self._text_of_page, with_scripts=True) if syntax == "html" else None
        self._charset = charset_of(document.head, is_page=self._page is not None)
        self._decoder = codecs.getincrementaldecoder(self._charset)()
        self._is_decoded = self._page is not None or self._charset not in _OF_EXPAT
        self._parser = expat.ParserCreate()
        self._parser.buffer_text, self._parser.buffer_size, self._parser.ordered_attributes = True, _BUFFER_BYTES, True
        self._parser.CharacterDataHandler = self._text
        self.names: set[str] = self._page.names if self._page else set()  # of the elements
        self._parser.StartElementHandler = lambda name, attributes: self.names.add(name)  # ends a piece of text
        self._parser.EndElementHandler = lambda name: None

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, b"" at the end."""
        data = self._document.read(size)
        while self._page is not None and _CUT_REFERENCE.search(data) and (rest := self._document.read(1)):
            data += rest
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
            return with_xml_characters(text).encode()
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

    def _text_of_page(self, line: int, text: str) -> None:
        if not text.isspace():
            self._read(self._name, text, line=line + text[: len(text) - len(text.lstrip())].count("\n"))


def charset_of(head: bytes, *, is_page: bool = False) -> str:
    """Return the charset that a file's beginning declares, as Python names it: "utf-8" if it declares none."""
    declared = declared_encoding(head)
    try:
        return codecs.lookup((AS_BROWSERS_DO.get(declared, declared) if is_page else declared) or "utf-8").name
    except LookupError:
        return "utf-8"
