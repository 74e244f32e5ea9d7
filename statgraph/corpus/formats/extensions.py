"""The formats whose readers are in extensions (extensions/README.md), which are imported when they read a source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from statgraph.corpus.draft import Draft, SourceFormat
from statgraph.registry import deferred, load

_DOCUMENTS = "statgraph_documents"


def _document_format(
    name: str,
    summary: str,
    suffixes: tuple[str, ...],
    reader: str,
    language: Callable[[Path], str | None] | None = None,
    *,
    is_text: bool = True,
) -> SourceFormat:
    """Return the format of documents with these suffixes, a file or a folder of them; `reader` is where the extension
    has what reads a file, `is_text` whether they have an encoding."""

    def of_outlines(use: str) -> Callable[[Draft, Path], Any]:
        return lambda draft, source: load(name, f"{_DOCUMENTS}.documents:{use}")(
            draft, source, suffixes, load(name, f"{_DOCUMENTS}.{reader}")
        )

    takes = ("code", "article_pattern", "heading_patterns", *(("encoding",) * is_text))
    fill, explain = of_outlines("draft_documents"), of_outlines("explain_documents")
    return SourceFormat(summary, fill, language, takes=takes, suffixes=suffixes, explain=explain)


DOCX = _document_format(
    "docx", "documents of a word processor, an act a file", (".docx",), "docx:read_docx", is_text=False
)
HTML = _document_format(
    "html",
    "web pages, an act a page",
    (".html", ".htm", ".xhtml"),
    "html:read_html",
    deferred("html", f"{_DOCUMENTS}.html:language_of"),
)
MD = _document_format("md", "Markdown, an act a file", (".md", ".markdown"), "markdown:read_markdown")
TXT = _document_format("txt", "plain text, an act a file", (".txt", ".text"), "text:read_text")
XLSX = SourceFormat(
    "tables of a spreadsheet, as of csv, on one sheet or several",
    deferred("xlsx", f"{_DOCUMENTS}.xlsx:draft_xlsx"),
    takes=("columns", "code"),
    suffixes=(".xlsx", ".xlsm"),
    files=("articles.xlsx",),
)
BSARD = SourceFormat(
    "the CSV files of BSARD or bBSARD",
    deferred("bsard", "statgraph_catalogue.bsard:draft_bsard"),
    deferred("bsard", "statgraph_catalogue.bsard:language_of"),
    files=("questions_*.csv",),
)
LEGI = SourceFormat(
    "the JSON trees of the French codes",
    deferred("legi", "statgraph_catalogue.legi:draft_legi"),
    language="fr",
    files=("LEGITEXT*.json",),
)
