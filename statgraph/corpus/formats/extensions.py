"""The formats whose readers are in extensions (extensions/README.md), which are imported when they read a source."""

from __future__ import annotations

from statgraph.corpus.draft import SourceFormat
from statgraph.corpus.formats.documents import document_format
from statgraph.registry import deferred

DOCX = document_format(
    "documents of a word processor, an act a file",
    (".docx",),
    deferred("docx", "statgraph_documents.docx:read_docx"),
    is_text=False,
)
HTML = document_format(
    "web pages, an act a page",
    (".html", ".htm", ".xhtml"),
    deferred("html", "statgraph_documents.html:read_html"),
    language=deferred("html", "statgraph_documents.html:language_of"),
)
MD = document_format(
    "Markdown, an act a file", (".md", ".markdown"), deferred("md", "statgraph_documents.markdown:read_markdown")
)
XLSX = SourceFormat(
    "tables of a spreadsheet, as of csv, on one sheet or several",
    deferred("xlsx", "statgraph_documents.xlsx:draft_xlsx"),
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
