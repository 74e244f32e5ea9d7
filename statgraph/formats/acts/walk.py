"""The words of a document, which the text between its tags brings into an account, each with its line.

The walk knows nothing of articles, and parses on its own: XML with Expat, pages with Python's own parser.
"""

from __future__ import annotations

import codecs
from xml.parsers import expat

from statgraph.errors import CorpusError
from statgraph.formats.acts.documents import HEAD_BYTES
from statgraph.law.account import Account
from statgraph.law.html_text import AS_BROWSERS_DO, PageWalk, declared_encoding

_BUFFER_BYTES = 1 << 16
_OF_EXPAT = ("utf-8", "utf-16")


def count_xml(name: str, data: bytes, account: Account) -> None:
    """Add the words of XML to an account.

    Raises:
        CorpusError: if it is not well-formed, or not in the charset that it declares.
    """
    parser = expat.ParserCreate()
    parser.buffer_text, parser.buffer_size = True, _BUFFER_BYTES
    # Any handler of tags ends a piece of text.
    parser.StartElementHandler, parser.EndElementHandler = (lambda *tag: None), (lambda name: None)

    def read(text: str) -> None:
        if not text.isspace():
            account.read(name, text, line=parser.CurrentLineNumber - text.lstrip().count("\n"))

    parser.CharacterDataHandler = read
    try:
        parser.Parse(data if _charset_of(data) in _OF_EXPAT else decoded(name, data), True)
    except expat.ExpatError as error:
        problem = f"not well-formed XML ({expat.ErrorString(error.code)}); correct it, or convert it to UTF-8"
        raise CorpusError(f"{name}:{error.lineno}: {problem}") from None


def count_page(name: str, page: str, account: Account) -> None:
    """Add the words of a page to an account."""

    def read(line: int, text: str) -> None:
        if not text.isspace():
            account.read(name, text, line=line + text[: len(text) - len(text.lstrip())].count("\n"))

    walk = PageWalk(read, with_scripts=True)
    walk.feed(page)
    walk.close()


def decoded(name: str, data: bytes, *, is_page: bool = False) -> str:
    """Return the text of a document, in the charset that it declares or UTF-8.

    Raises:
        CorpusError: if it is in another one.
    """
    charset = _charset_of(data, is_page=is_page)
    try:
        return data.decode(charset)
    except UnicodeDecodeError:
        problem = f"holds bytes that are not {charset.upper()}, as it is declared to be or by default"
        raise CorpusError(f"{name}: {problem}; correct it, or convert it to UTF-8") from None


def _charset_of(data: bytes, *, is_page: bool = False) -> str:
    """Return the charset that a document declares, as Python names it: "utf-8" if it declares none."""
    declared = declared_encoding(data[:HEAD_BYTES])
    try:
        return codecs.lookup((AS_BROWSERS_DO.get(declared, declared) if is_page else declared) or "utf-8").name
    except LookupError:
        return "utf-8"
