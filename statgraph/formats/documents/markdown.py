"""Statutes in Markdown (CommonMark and tables): headings by level, lists and tables a line for each item and row."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape, unescape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.html import NOTES, letters, page_lines, plain_line
from statgraph.formats.documents.outline import CONTENTS, METADATA
from statgraph.formats.documents.text import walk_text
from statgraph.law.draft import Draft
from statgraph.law.html_text import BLOCKS, OWN_MARK
from statgraph.law.lines import all_lines

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER, _ENDS = "---", ("---", "...")
_NOTE = re.compile(r"[ \t>]*\[\^[^\]\s]+\]:")
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
# A link definition whose target is not an address: "[1]: Repealed."
_NO_ADDRESS = re.compile(r"^([ \t>]*)(?=\[[^\]]+\]:\s)(?!\[[^\]]+\]:\s+<?(?:[a-z][a-z\d+.-]*:\S|[./#]))", re.IGNORECASE)
_NUMBER = re.compile(r"\w{1,3}")  # "[Haftung](1) Der Halter" is no link
_SUPERSCRIPT, _SUBSCRIPT = re.compile(r"\^([^\s^]{1,12})\^"), re.compile(r"(?<=\w)~(\w{1,8})~")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_STRAY = re.compile(r"\*{2,}|^_+(?=\w)")  # "**Objeto **" is no emphasis, because of the blank
_ATTRIBUTES = re.compile(r"(?<=\S)[ \t]+\{[#.][^{}\n]*\}[ \t]*$", re.MULTILINE)  # of a heading: "§ 1 {#s1}"
_DEFINITION = re.compile(r"^:\s+")  # begins what is said of the term on the line above


def read_markdown(draft: Draft, path: Path, name: str) -> DocumentLines:
    """Return the lines of a Markdown file; a place is the line of the file."""
    from markdown_it import MarkdownIt

    texts = [unicodedata.normalize("NFC", text) for _, text in all_lines(draft, path, name)]
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
    tokens = parser.parse("\n".join(_NO_ADDRESS.sub(r"\1\\", text) for text in texts))
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
    from lxml.etree import LxmlError

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
            texts = list(_texts(token, left_out))
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
            with suppress(LxmlError):  # a comment, or the end of an element alone
                page = page_lines(token.content, name, first - 1)
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


def _texts(token: Token, left_out: list[tuple[str, str]]) -> Iterator[tuple[int, str, bool]]:
    """Yield (lines of the file above it, text, whether it goes on the one before) for each line of an inline token."""
    pieces: list[str] = []
    first = line = 0
    goes_on, address = False, ""
    for part in (*(token.children or ()), None):
        tag = part.content if part and part.type == "html_inline" else ""
        if part is None or part.type in ("softbreak", "hardbreak") or _BREAK.fullmatch(tag):
            if text := _plain("".join(pieces), left_out):
                yield first, text, goes_on
            goes_on = part is not None and part.type == "softbreak" and (goes_on or bool(text))
            line += not tag
            pieces, first = [], line
        elif part.type == "link_open":
            address = str(part.attrs["href"])
            pieces.append(f'<a href="{escape(address)}">')
        elif part.type == "link_close":
            pieces.append(f"</a>({address})" if _NUMBER.fullmatch(address) else "</a>")
        else:
            pieces.append(tag or escape(part.content, quote=False))


def _plain(html: str, left_out: list[tuple[str, str]]) -> str:
    """Return the text of HTML with what Markdown adds to it, without marks of footnotes, which are left out."""
    left_out += [(NOTES, mark) for mark in _NOTE_MARK.findall(html)]
    html = _STRAY.sub("", _NOTE_MARK.sub("", html))
    html = _SUBSCRIPT.sub(r"\1", _SUPERSCRIPT.sub(r"<sup>\1</sup>", html))
    return plain_line(html, left_out).strip()


# Marks alone, for the walk: comments, tags, addresses, emphasis and escapes. What can mark a note stands apart.
_TAG = re.compile(r"<!--.*?-->|</?([a-z][\w-]*)(?:\s[^<>]*)?/?>", re.IGNORECASE | re.DOTALL)
_APART = re.compile(r"\[(\[?[^\[\]\n]*\]?)\]\(#[^)\s]*\)|(\[\^[^\]\s]+\]:?)")
_ADDRESS = re.compile(r"(?<=\])\((?!\w{1,3}\))<?(?:[^()\s]|\([^()\s]*\))*>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)")
_ADDRESS_LINE = re.compile(r"^[ \t>]*\[([^\]^][^\]]*)\]:\s+<?(?:\w+://|mailto:|[./#])\S*.*$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\\)[*`~]+|\\(?=[!-/:-@\[-`{-~])")


def walk_markdown(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every line of a file, and of each mark of a footnote in one, without what is no text."""
    text = "".join(line for _, line in walk_text(draft, path, name)).removeprefix("\ufeff")
    labels = {label.casefold() for label in _ADDRESS_LINE.findall(text)}
    text = _APART.sub("\0\\g<1>\\g<2>\0", _TAG.sub(_instead, text))
    text = _ADDRESS.sub("", _ADDRESS_LINE.sub("", _ATTRIBUTES.sub("", text)))
    text = re.sub(r"(?<=\])\[([^\]\n]*)\]", lambda found: "" if found[1].casefold() in labels else found[0], text)
    for number, line in enumerate(unescape(_EMPHASIS.sub("", text)).split("\n"), start=1):
        yield from ((f"{name}:{number}", piece) for piece in line.split("\0"))


def _instead(tag: re.Match[str]) -> str:
    name = (tag[1] or "").lower()
    return ("\0" if name == "a" else " " * (name in BLOCKS)) + "\n" * tag[0].count("\n")


FORMAT = document_format("Markdown, an act a file", (".md", ".markdown"), read_markdown, walk_markdown)
