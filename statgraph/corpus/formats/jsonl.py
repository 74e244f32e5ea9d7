"""A user's own statutes as JSON lines.

- `articles.jsonl`: `id`, `title`, `text`, and its place: `path`, the list of the headings above it from
  the code down, or `heading`, the id of a heading.
- `headings.jsonl`: `id`, `title`, `parent` (the id of the heading above; none for a code).
- `questions.jsonl`: `id`, `text`, `articles` (the list of article ids), `split`.

`_id` also works for `id`. Articles come in the order of the file. Any other key of an article or a question is kept as
metadata; `valid_from` and `valid_to` say when an article is in force (`statgraph.corpus.validity`).
"""

from __future__ import annotations

from pathlib import Path

from statgraph.corpus.draft import Draft, SourceFormat
from statgraph.corpus.formats.tables import draft_tables
from statgraph.corpus.lines import json_lines


def draft_jsonl(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of JSONL tables, or from a single file of articles."""
    draft_tables(draft, source, ".jsonl", lambda path, table: json_lines(draft, path, path.name))


FORMAT = SourceFormat("your own articles.jsonl, headings.jsonl, questions.jsonl", draft_jsonl)
