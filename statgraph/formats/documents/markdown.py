"""Statutes in Markdown (CommonMark and tables): headings by level, lists and tables a line for each item and row."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.html import OWN_MARK, page_lines
from statgraph.formats.documents.page_parts import CONTENTS, METADATA, NOTES, letters
from statgraph.formats.documents.text import walk_text
from statgraph.law.draft import Draft
from statgraph.law.lines import all_lines
from statgraph.law.raised import raised, with_plain_fractions

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER, _ENDS = "---", ("---", "...")
_NOTE = re.compile(r"[ \t>]*\[\^[^\]\s]+\]:")
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
_RAISED_LINK = re.compile(r"<sup>\s*\[([^\]\s]+)\]\(#[^)\s]*\)\s*</sup>", re.IGNORECASE)  # marks a note too
# What is defined as the address of a link but is none: "[1]: Repealed."
_NO_ADDRESS = re.compile(r"^([ \t>]*)(?=\[[^\]]+\]:\s)(?!\[[^\]]+\]:\s+<?(?:[a-z][a-z\d+.-]*:\S|[./#]))", re.IGNORECASE)
_NUMBER = re.compile(r"\w{1,3}")  # "[Haftung](1) Der Halter" is no link
_SUPERSCRIPT, _SUBSCRIPT = re.compile(r"\^([^\s^]{1,12})\^"), re.compile(r"(?<=\w)~(\w{1,8})~")
_BREAK, _SUP = re.compile(r"<br\s*/?>", re.IGNORECASE), re.compile(r"<(/?)sup\b", re.IGNORECASE)
_STRAY = re.compile(r"\*{2,}|^_+(?=\w)")  # "**Objeto **" is no emphasis, because of the blank
_ATTRIBUTES = re.compile(r"\s*\{[#.][^{}]*\}\s*$", re.MULTILINE)  # of a heading: "§ 1 {#s1}"
_DEFINITION = re.compile(r"^:\s+")  # begins what is said of the term on the line above


def read_markdown(draft: Draft, path: Path, name: str) -> DocumentLines:
    """Return the lines of a Markdown file; a place is the line of the file."""
    from markdown_it import MarkdownIt

    texts = [_RAISED_LINK.sub(r"[^\1]", unicodedata.normalize("NFC", text)) for _, text in all_lines(draft, path, name)]
    left_out: list[tuple[str, str]] = []
    title = ""
    if texts and texts[0].rstrip() == _FRONT_MATTER:
        end = next((place for place, text in enumerate(texts[1:], start=1) if text.rstrip() in _ENDS), 0)
        left_out += [(METADATA, unescape(text)) for text in texts[1:end]]
        title = unescape(_title_of("\n".join(texts[1:end])))
        texts[: end + 1] = [""] * (end + 1)
    for place in _note_places(texts):
        left_out.append((NOTES, texts[place]))
        texts[place] = ""
    # Text that is indented is no program.
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("code")
    tokens = parser.parse(with_plain_fractions("\n".join(_NO_ADDRESS.sub(r"\1\\", text) for text in texts)))
    if any(token.tag == "h1" for token in tokens):
        title = ""
    lines = list(_lines(tokens, name, left_out))
    return DocumentLines(title, lines, left_out=left_out)


def _title_of(front_matter: str) -> str:
    """Return the title that a front matter gives, "" if it gives none or is no YAML."""
    import yaml

    try:
        said = yaml.safe_load(front_matter)
    except yaml.YAMLError:
        return ""
    given = {str(key).casefold(): value for key, value in said.items()} if isinstance(said, dict) else {}
    return " ".join(str(given.get("title") or "").split())


def _note_places(texts: list[str]) -> Iterator[int]:
    """Yield the places of the lines of footnotes, which go on to a blank line and, if indented, beyond it."""
    is_note = is_after_blank = False
    for place, text in enumerate(texts):
        is_indented = text.startswith(("    ", "\t"))
        is_note = bool(_NOTE.match(text)) or (is_note and (not text.strip() or is_indented or not is_after_blank))
        is_after_blank = not text.strip()
        if is_note and text.strip():
            yield place


def _lines(tokens: Sequence[Token], name: str, left_out: list[tuple[str, str]]) -> Iterator[Line]:
    """Yield the lines of a file, and add what is left out."""
    level, row, item, marks = 0, 0, 0, [""]
    cells: list[str] | None = None
    headings = {letters(text.content) for token, text in pairwise(tokens) if token.type == "heading_open"}
    for token in tokens:
        first = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open":
            # A rule below a paragraph of several lines makes no heading of it.
            lines = token.map[1] - token.map[0] if token.map else 1
            level = int(token.tag[1:]) if token.markup != "-" or lines == 2 else 0
        elif token.type == "list_item_open":
            # An item can begin with a list: "1. - first".
            above, marks[-1], item = marks[-1], "", first
            marks.append(f"{above}{token.info}{token.markup} " if token.info else f"{above}- ")
        elif token.type == "list_item_close":
            if mark := marks.pop().strip("- "):
                yield Line(f"{name}:{item}", mark)
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close":
            yield Line(f"{name}:{row}", " | ".join(cells or ()))
            cells = None
        elif token.type == "inline":
            texts = [(offset, _plain(text, left_out), goes_on) for offset, text, goes_on in _texts(token)]
            if cells is not None:
                row = first
                cells.append(" ".join(text for _, text, _ in texts))
                continue
            if texts and not level and _is_link(token) and letters(texts[0][1]) in headings:
                left_out.append((CONTENTS, texts[0][1]))
                texts, marks[-1] = [], ""
            elif level:
                texts = [(0, _ATTRIBUTES.sub("", " ".join(text for _, text, _ in texts)), False)]
            for offset, text, goes_on in texts:
                mark = "" if marks[-1] == "- " and OWN_MARK.match(text) else marks[-1]
                defined = _DEFINITION.sub("", text)
                yield Line(f"{name}:{first + offset}", f"{mark}{defined}", level, goes_on and defined == text)
                marks[-1] = ""
            level = 0
        elif token.type == "fence":
            for offset, text in enumerate(token.content.rstrip("\n").split("\n"), start=1):
                yield Line(f"{name}:{first + offset}", f"{marks[-1]}{text}")
                marks[-1] = ""
        elif token.type == "html_block":
            page = _page(token.content, name, first - 1)
            left_out += page.left_out
            yield from page.lines


def _is_link(token: Token) -> bool:
    """Return whether a text is nothing but a link to a place in the file."""
    parts = token.children or []
    return (
        len(parts) > 2
        and (parts[0].type, parts[-1].type) == ("link_open", "link_close")
        and str(parts[0].attrs["href"]).startswith("#")
        and not any(part.type in ("link_open", "softbreak", "hardbreak") for part in parts[1:])
    )


def _page(html: str, name: str, lines_before: int) -> DocumentLines:
    """Return the lines of a block of HTML, none where it is a comment or the end of an element alone."""
    from lxml.etree import LxmlError

    try:
        return page_lines(html, name, lines_before)
    except (LxmlError, ValueError, RecursionError):
        return DocumentLines("", ())


def _texts(token: Token) -> Iterator[tuple[int, str, bool]]:
    """Yield (lines of the file above it, text, whether it goes on the one before) for each line of an inline token."""
    pieces: list[str] = []
    first = line = sup = 0
    goes_on, address = False, ""
    for part in token.children or ():
        tag = part.content if part.type == "html_inline" else ""
        if part.type in ("softbreak", "hardbreak") or _BREAK.fullmatch(tag):
            text = "".join(pieces).strip()
            if text:
                yield first, text, goes_on
            goes_on = part.type == "softbreak" and (goes_on or bool(text))
            line += not tag
            pieces, first, sup = [], line, 0
        elif found := _SUP.match(tag):
            pieces[sup:] = [raised("".join(pieces[sup:]))] if found[1] else pieces[sup:]
            sup = len(pieces)
        elif part.type == "link_open":
            address = str(part.attrs["href"])
        elif part.type == "link_close":
            pieces.append(f"({address})" if _NUMBER.fullmatch(address) else "")
        elif not tag:
            pieces.append(part.content)
    if text := "".join(pieces).strip():
        yield first, text, goes_on


def _plain(text: str, left_out: list[tuple[str, str]]) -> str:
    """Return a text with superscripts and subscripts as text, without marks of footnotes, which are left out."""
    left_out += [(NOTES, mark) for mark in _NOTE_MARK.findall(text)]
    text = _STRAY.sub("", _NOTE_MARK.sub("", text))
    text = _SUPERSCRIPT.sub(lambda found: raised(found[1]), text)
    return _SUBSCRIPT.sub(r"\1", text).strip()


# Marks alone, for the walk: comments, tags, addresses, emphasis and escapes.
_TAGS_IN_WORDS = re.compile(r"</?(?:sup|sub|b|i|u|em|strong|span|a|small|mark|s)(?:\s[^<>]*)?>", re.IGNORECASE)
_TAGS = re.compile(r"<!--.*?-->|</?[a-z][\w-]*(?:\s[^<>]*)?/?>", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"(?<=\])\((?!\w{1,3}\))<?(?:[^()\s]|\([^()\s]*\))*>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)")
_ADDRESS_LINE = re.compile(r"^[ \t>]*\[([^\]^][^\]]*)\]:\s+<?(?:\w+://|mailto:|[./#])\S*.*$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\\)[*`~]+|\\(?=[!-/:-@\[-`{-~])")


def walk_markdown(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every line of a file, and of each mark of a footnote in one, without what is no text."""
    text = "".join(line for _, line in walk_text(draft, path, name)).removeprefix("\ufeff")
    text = re.sub(r"<sup>\s*\[([^\]\s]+)\]\(#\S*?\)\s*</sup>", r"[^\1]", text)
    labels = {label.casefold() for label in _ADDRESS_LINE.findall(text)}
    text = _TAGS.sub(lambda found: " " + "\n" * found[0].count("\n"), _TAGS_IN_WORDS.sub("", text))
    text = _ADDRESS.sub("", _ADDRESS_LINE.sub("", re.sub(r"(?<=\S) +\{[#.][^{}\n]*\}(?= *$)", "", text, flags=re.M)))
    text = re.sub(r"(?<=\])\[([^\]\n]*)\]", lambda found: "" if found[1].casefold() in labels else found[0], text)
    for number, line in enumerate(unescape(_EMPHASIS.sub("", text)).split("\n"), start=1):
        yield from ((f"{name}:{number}", piece) for piece in re.split(r"(\[\^[^\]\s]+\]:?)", line))


FORMAT = document_format("Markdown, an act a file", (".md", ".markdown"), read_markdown, walk_markdown)
