"""Statutes in Markdown (CommonMark and tables): headings by level, lists and tables a line for each item and row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.law.draft import Draft
from statgraph.law.lines import all_lines

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = "---"


def read_markdown(draft: Draft, path: Path, name: str) -> DocumentLines:
    """Return the lines of a Markdown file, with blank ones between paragraphs."""
    from markdown_it import MarkdownIt

    texts = [text for _, text in all_lines(draft, path, name)]
    if texts[:1] == [_FRONT_MATTER] and _FRONT_MATTER in texts[1:]:
        end = texts.index(_FRONT_MATTER, 1)
        texts[: end + 1] = [""] * (end + 1)
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(texts))
    return DocumentLines("", list(_lines(tokens, name)))


def walk_markdown(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of all that stands in a file."""
    return all_lines(draft, path, name)


def _lines(tokens: Sequence[Token], name: str) -> Iterator[Line]:
    level, row, marks = 0, 0, [""]
    cells: list[str] | None = None
    for token in tokens:
        first = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "list_item_open":
            marks.append(f"{token.info}{token.markup} " if token.info else "- ")
        elif token.type == "list_item_close":
            marks.pop()
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close":
            yield Line(f"{name}:{row}", " | ".join(cells or ()))
            cells = None
        elif token.type == "inline":
            text = _plain(token)
            if cells is not None:
                row = first
                cells.append(" ".join(text.split()))
                continue
            texts = text.split("\n")
            for offset, text in enumerate(texts if not level else [" ".join(texts)]):
                yield Line(f"{name}:{first + offset}", f"{marks[-1]}{text}", level, goes_on=offset > 0)
                marks[-1] = ""
            level = 0
        elif token.type in ("code_block", "fence"):
            yield from (Line(f"{name}:{first + n}", text) for n, text in enumerate(token.content.split("\n")))
        elif token.type.endswith("_close"):
            yield Line("", "")


def _plain(token: Token) -> str:
    """Return the text of an inline token without its marks, a line for each of its lines."""
    breaks = {"softbreak": "\n", "hardbreak": "\n"}
    return "".join(breaks.get(part.type, part.content) for part in token.children or () if part.type != "html_inline")


FORMAT = document_format("Markdown, an act a file", (".md", ".markdown"), read_markdown, walk_markdown)
