"""Web pages and fragments of them: what their tags are to a text, their lines, their encoding, and a plain walk.

A tag that is no block is part of a line, whatever it is, as browsers have it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from statgraph.law.raised import fraction, raised, with_plain_fractions

if TYPE_CHECKING:
    from lxml.html import HtmlElement

LEVELS = {f"h{level}": level for level in range(1, 7)}
CELLS = ("td", "th")
_UNREAD = ("script", "style")
BLOCKS = {  # begin and end a line
    *("address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog"),
    *("dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "head", "header", "hr", "html"),
    *("legend", "li", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "section", "select", "summary"),
    *("table", "tbody", "tfoot", "thead", "title", "tr", "ul", "br", *CELLS, *LEVELS),
}
_IN_A_LINE = ("a", "b", "em", "font", "i", "img", "span", "strong", "sub", "sup", "u")
_KNOWN = "|".join(sorted({*BLOCKS, *_IN_A_LINE, *_UNREAD}))
# "a < b" and "AT&T" are no HTML.
_HTML = re.compile(rf"</?(?:{_KNOWN})(?:\s[^<>]*)?/?>|&(?:nbsp|amp|lt|gt|quot|#\d+|#x[0-9a-f]+);", re.IGNORECASE)
_END = re.compile(r"</(?:html|body)\s*>", re.IGNORECASE)  # behind which lxml reads nothing
_END_OF_PARAGRAPH = re.compile(r"</p\s*>", re.IGNORECASE)  # which ends a line even where none begins
_NO_XML = "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
_MAYBE_NO_XML = re.compile(rf"{_NO_XML}|&#\w+;")
_SUPERSCRIPT = re.compile(r"vertical-align\s*:\s*super", re.IGNORECASE)
_SUPERSCRIPT_CLASS = re.compile(r"(?:.*[\s-])?sup(?:er(?:script)?)?(?:\s.*)?", re.IGNORECASE)
_SUPERSCRIPTS = "//sup[not(ancestor::sup)]"
_DROPPED = "\ufdd0"  # stands where an element was
_AROUND_DROPPED = re.compile(rf"\s?\(\s*{_DROPPED}\s*\)|{_DROPPED}")
# "a)", "1.", "(ii)", "–": of a list whose items are definitions, or written in the text of an item.
_TERM = re.compile(r"(?:[(\[]?(?:\d{1,3}[a-z]{0,2}|[a-z]|[a-z]{1,6}(?=[.)\]]))[.)\]°]*|[-–—•·])", re.IGNORECASE)
OWN_MARK = re.compile(r"(?:[(\[]?(?:\d{1,3}[a-z]{0,2}|[a-z])[.)\]°]+|\(?[ivxl]+\)|[-–—•·])(?:\s|$)", re.IGNORECASE)

_CHARSET = re.compile(rb"""(?:<\?xml[^>]*?\sencoding|<meta[^>]+?charset)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_HEAD_BYTES = 4096
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_NOT_READABLE = ("utf-16", "utf-16le", "utf-16be", "unicode")  # as bytes that hold a declaration
AS_BROWSERS_DO = {
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin1", "latin-1", "ascii", "us-ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gb_2312-80", "x-gbk", "gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    **dict.fromkeys(("iso-8859-11", "tis-620"), "cp874"),
}


def declared_encoding(head: bytes) -> str:
    """Return the encoding that the beginning of a page or of XML has the byte order mark of or else declares, in lower
    case; "" where it does neither."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return encoding
    declared = _CHARSET.search(head)
    name = declared[1].decode().lower() if declared else ""
    return "utf-8" if name in _NOT_READABLE else name


def encoding_of_page(page: bytes) -> str:
    """Return the encoding that a page declares, as browsers read it; "" where it declares none, and where its letters
    can be UTF-8."""
    name = declared_encoding(page[:_HEAD_BYTES])
    is_utf8 = not page.isascii() and page.decode("utf-8", "ignore").encode() == page
    return "" if is_utf8 else AS_BROWSERS_DO.get(name, name)


def has_html(text: str) -> bool:
    """Return whether a text holds tags or entities of HTML."""
    return _HTML.search(text) is not None


def plain_text(html: str) -> str:
    """Return the text of an HTML fragment, one paragraph or table row a line, spaces collapsed.

    Superscripts are as `raised` writes them, but for marks of footnotes, which are left out.
    """
    from lxml.etree import LxmlError

    try:
        root = tree_of(html)
    except LxmlError:  # a comment, or the end of an element alone
        return ""
    for element, _, _ in list(note_marks(root)):
        drop(element)
    put_on_the_line(root)
    for cell in root.iter(*CELLS):
        cell.tag, cell.text, cell.tail = "span", f" {cell.text or ''}", f" {cell.tail or ''}"
    return "\n".join(line for _, text, _ in lines_of(root) if (line := " ".join(text.split())))


def with_xml_characters(html: str) -> str:
    """Return HTML without what XML cannot hold, such as control characters and references to them."""
    return _MAYBE_NO_XML.sub(_xml_character, html)


def _xml_character(found: re.Match[str]) -> str:
    text = unescape(found[0])
    if text and not re.fullmatch(_NO_XML, text):
        return found[0]
    return " " * text.isspace()


def tree_of(html: str) -> HtmlElement:
    """Return the tree of a page or fragment, without comments, scripts and styles; what a style raises is a `sup`.

    Raises:
        LxmlError: if it holds no element and no text.
    """
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    text = with_plain_fractions(with_xml_characters(_END.sub("", html)))
    text = _END_OF_PARAGRAPH.sub(r"\g<0><hr>", text)
    parser = HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    root = document_fromstring(text.encode("utf-8"), parser=parser)
    etree.strip_elements(root, *_UNREAD, with_tail=False)
    for element in root.iter("span", "font", "small"):
        by_class = len(element) == 0 and _SUPERSCRIPT_CLASS.fullmatch(element.get("class") or "")
        if by_class or _SUPERSCRIPT.search(element.get("style") or ""):
            element.tag = "sup"
    return root


def note_marks(root: HtmlElement) -> Iterator[tuple[HtmlElement, str, str]]:
    """Yield (element, mark without brackets, name of the place it leads to) for the marks of footnotes, which are
    raised links to a place on the page."""
    for sup in root.xpath(_SUPERSCRIPTS):
        above = next(sup.iterancestors("a"), None)
        link = next(sup.iter("a"), None) if above is None else above
        mark = _core(sup)
        if link is not None and mark and "#" in (link.get("href") or "") and _core(link) == mark:
            yield sup if above is None else above, mark, link.get("href").partition("#")[2]


def _core(mark: HtmlElement) -> str:
    return "".join(mark.itertext()).strip(" \t\n()[].")


def drop(element: HtmlElement) -> None:
    """Drop an element, but not what follows it; if it was in a line, `text_of` drops the brackets around it too."""
    if element.tag not in BLOCKS:
        element.tail = f"{_DROPPED}{element.tail or ''}"
    element.drop_tree()


def put_on_the_line(root: HtmlElement) -> None:
    """Make text of superscripts and formulas: "10⁶", "x=5/2r³"."""
    formulas = root.xpath("//math/descendant-or-self::*[not(self::sup)]")
    for element in (*root.xpath(_SUPERSCRIPTS), *reversed(formulas)):  # of each formula the innermost first
        is_divided = element.tag == "sup" and any(one.tag in BLOCKS for one in element.iter())
        element.text = _formula(element)
        element[:] = [element.makeelement("br")] if is_divided else []


def _formula(element: HtmlElement) -> str:
    parts = [child.text or "" for child in element]
    if element.tag == "sup":
        return raised("".join(element.itertext()))
    if element.tag == "mfrac" and len(parts) == 2:
        return fraction(*parts)
    if element.tag in ("msup", "msubsup") and parts:
        return "".join((*parts[:-1], raised(parts[-1])))
    if element.tag in ("msqrt", "mroot"):
        return f"√({parts[0] if element.tag == 'mroot' and parts else ''.join(parts)})"
    return "".join(map(str.strip, element.itertext()))


def text_of(pieces: Iterable[str]) -> str:
    """Return pieces of a line as one, without the brackets around what was dropped."""
    return _AROUND_DROPPED.sub("", "".join(pieces))


def lines_of(root: HtmlElement) -> Iterator[tuple[int, str, int]]:
    """Yield (line of the file, text, level of a heading or 0) for each paragraph, heading and item of a list, an item
    with the mark that its attribute `mark` holds or that is a term of its own; preformatted text keeps its lines."""
    from lxml.etree import iterwalk

    pieces: list[str] = []
    term, mark, level, place, is_pre = "", "", 0, 1, False
    for event, element in iterwalk(root, events=("start", "end")):
        tag, starts = element.tag, event == "start"
        if tag == "br" and (level or is_pre):
            pieces.append(("\n" if is_pre else " ") * starts)
        elif tag in BLOCKS:
            text = text_of(pieces)
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
                yield place + offset, line, level
            place = (starts and element.sourceline) or place
        if tag in LEVELS:
            level = LEVELS[tag] if starts else 0
        elif tag == "pre":
            is_pre = starts
        elif tag == "li":
            mark = (starts and element.get("mark")) or ""
        pieces.append((element.text if starts else element.tail if element is not root else "") or "")


class PageWalk(HTMLParser):
    """Reads the texts between the tags of a page, by Python's own parser: what `account` is held against.

    Attributes:
        names: of its elements.
    """

    def __init__(self, read: Callable[[int, str], None], *, with_scripts: bool = False):
        """Call a function with (line on which it begins, text) for each text."""
        super().__init__()
        self.names: set[str] = set()
        self._read_text, self._with_scripts = read, with_scripts

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)

    def handle_data(self, data: str) -> None:
        if self._with_scripts or self.cdata_elem not in _UNREAD:
            self._read_text(self.getpos()[0], data)
