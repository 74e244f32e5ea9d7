"""A user's own statutes as JSON lines.

- `articles.jsonl`: `id`, `title`, `text`, and its place: `path`, the list of the headings above it from
  the code down, or `heading`, the id of a heading.
- `headings.jsonl`: `id`, `title`, `parent` (the id of the heading above; none for a code).
- `questions.jsonl`: `id`, `text`, `articles` (the list of article ids), `split`.

`_id` also works for `id`. Articles come in the order of the file. Any other key of an article or a question is kept as
metadata; `valid_from` and `valid_to` say when an article is in force (`statgraph.corpus.validity`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from statgraph.corpus.draft import Draft, SourceFormat
from statgraph.corpus.formats.tables import ArticleRow, HeadingRow, QuestionRow, draft_tables, table_files
from statgraph.corpus.lines import id_field, ids_field, json_lines, path_field, string_field

ARTICLE_KEYS = ("id", "_id", "title", "text", "path", "heading")
QUESTION_KEYS = ("id", "_id", "text", "articles", "split")


def draft_jsonl(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of JSONL tables, or from a single file of articles."""
    files = table_files(draft, source, ".jsonl")
    if files.articles:
        draft_tables(
            draft,
            _articles(draft, files.articles),
            _headings(draft, files.headings),
            _questions(draft, files.questions),
        )


def _headings(draft: Draft, path: Path | None) -> Iterator[HeadingRow]:
    for place, record in json_lines(draft, path, path.name) if path else ():
        heading_id = id_field(draft, place, record, "id", "_id")
        parent_id = id_field(draft, place, record, "parent")
        title = string_field(draft, place, record, "title")
        if heading_id is not None and parent_id is not None:
            yield HeadingRow(place, heading_id.strip(), title.strip(), parent_id.strip())


def _articles(draft: Draft, path: Path) -> Iterator[ArticleRow]:
    with draft.articles_from(path.name):
        for place, record in json_lines(draft, path, path.name):
            article_id = id_field(draft, place, record, "id", "_id")
            heading_id = id_field(draft, place, record, "heading")
            if article_id is not None and heading_id is not None:
                yield ArticleRow(
                    place,
                    article_id,
                    title=string_field(draft, place, record, "title"),
                    text=string_field(draft, place, record, "text"),
                    path=path_field(draft, place, record, "path"),
                    heading_id=heading_id.strip(),
                    metadata=_rest(record, ARTICLE_KEYS),
                )


def _questions(draft: Draft, path: Path | None) -> Iterator[QuestionRow]:
    for place, record in json_lines(draft, path, path.name) if path else ():
        question_id = id_field(draft, place, record, "id", "_id")
        if question_id is not None:
            yield QuestionRow(
                place,
                question_id.strip(),
                text=string_field(draft, place, record, "text"),
                article_ids=ids_field(draft, place, record, "articles"),
                split=string_field(draft, place, record, "split").strip(),
                metadata=_rest(record, QUESTION_KEYS),
            )


def _rest(record: Mapping[str, object], known_keys: tuple[str, ...]) -> dict[str, object]:
    return {key: value for key, value in record.items() if key not in known_keys}


FORMAT = SourceFormat("your own articles.jsonl, headings.jsonl, questions.jsonl", draft_jsonl)
