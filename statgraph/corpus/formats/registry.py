"""The formats that `statgraph import` understands. A format's module loads when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.errors import UsageError


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """Where a format's parser is, and what the format says of the language: always one, or what a function finds."""

    summary: str
    module: str
    function: str
    language: str | None = None
    language_function: str | None = None

    def fill(self, draft: Draft, source: Path) -> None:
        """Fill a draft from a source in this format."""
        getattr(importlib.import_module(self.module), self.function)(draft, source)

    def language_of(self, source: Path) -> str | None:
        """Return the language that the format or the names of the source's files tell, or None."""
        if self.language_function is None:
            return self.language
        find: Callable[[Path], str | None] = getattr(importlib.import_module(self.module), self.language_function)
        return find(source)


FORMATS: dict[str, SourceFormat] = {
    "jsonl": SourceFormat(
        "your own articles.jsonl, headings.jsonl, questions.jsonl", "statgraph.corpus.formats.jsonl", "draft_jsonl"
    ),
    "csv": SourceFormat(
        "your own articles.csv, headings.csv, questions.csv", "statgraph.corpus.formats.csv", "draft_csv"
    ),
    "beir": SourceFormat("corpus.jsonl, queries.jsonl, qrels/*.tsv", "statgraph.corpus.formats.beir", "draft_beir"),
    "bsard": SourceFormat(
        "the CSV files of BSARD or bBSARD",
        "statgraph.corpus.formats.bsard",
        "draft_bsard",
        language_function="language_of",
    ),
    "legi": SourceFormat(
        "the JSON trees of the French codes", "statgraph.corpus.formats.legi", "draft_legi", language="fr"
    ),
}


def format_named(name: str) -> SourceFormat:
    """Return the format of that name.

    Raises:
        UsageError: if there is none; the text lists the formats.
    """
    if name not in FORMATS:
        raise UsageError(f"format '{name}': not known; use one of {', '.join(FORMATS)}")
    return FORMATS[name]
