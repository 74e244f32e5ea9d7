"""The words of a document, which the text between its tags brings into an account, each with its line.

The walk knows nothing of articles. Pages it parses on its own, with Python's parser: what lxml drops of one is lost.
"""

from __future__ import annotations

from lxml import etree

from statgraph.errors import CorpusError
from statgraph.formats.acts.selectors import Element
from statgraph.law.account import Account
from statgraph.law.html_text import PageWalk, encoding_of_page


def count_xml(name: str, root: Element, account: Account) -> None:
    """Add the words of XML to an account."""
    line = 1
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            text, line = element.text, element.sourceline or line
        else:
            text = element.tail
        if text:
            if not text.isspace():
                _count(name, line, text, account)
            line += text.count("\n")


def count_page(name: str, page: str, account: Account) -> None:
    """Add the words of a page to an account."""

    def count(line: int, text: str) -> None:
        if not text.isspace():
            _count(name, line, text, account)

    walk = PageWalk(count, with_scripts=True)
    walk.feed(page)
    walk.close()


def _count(name: str, line: int, text: str, account: Account) -> None:
    if text[:1].isspace():
        line += text[: len(text) - len(text.lstrip())].count("\n")
    account.read(name, text, line=line)


def decoded(name: str, page: bytes) -> str:
    """Return the text of a page, in the charset that it declares or UTF-8.

    Raises:
        CorpusError: if it is in another one.
    """
    charset = encoding_of_page(page) or "utf-8"
    try:
        return page.decode(charset)
    except (UnicodeDecodeError, LookupError):
        problem = f"holds bytes that are not {charset.upper()}, as it is declared to be or by default"
        raise CorpusError(f"{name}: {problem}; correct it, or convert it to UTF-8") from None
