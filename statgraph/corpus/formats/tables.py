"""The three tables of a user's own statutes, whatever their file format: articles, headings, questions.

A folder holds `articles.*`, and `headings.*` and `questions.*` if there are any; a single file is a table of articles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.corpus.fields import UNREADABLE
from statgraph.corpus.formats.headings import HeadingRow, heading_paths
from statgraph.corpus.records import SPLITS
from statgraph.corpus.splits import split_of


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The files of the three tables; None where there is none."""

    articles: Path | None
    headings: Path | None = None
    questions: Path | None = None


@dataclass(frozen=True, slots=True)
class ArticleRow:
    """One article as its source gives it: under a `path`, or under the heading with id `heading_id`."""

    place: str
    article_id: str
    title: str
    text: str
    path: tuple[str, ...]
    heading_id: str
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question as its source gives it; without a `split` its id decides."""

    place: str
    question_id: str
    text: str
    article_ids: tuple[str, ...]
    split: str
    metadata: Mapping[str, object] = field(default_factory=dict)


def table_files(draft: Draft, source: Path, suffix: str) -> TableFiles:
    """Return the files of the three tables in a folder, or a single file as the articles."""
    if source.is_file():
        return TableFiles(articles=source)
    articles, headings, questions = (source / f"{table}{suffix}" for table in ("articles", "headings", "questions"))
    if not articles.exists():
        found = ", ".join(sorted(path.name for path in source.iterdir())[:8]) or "nothing"
        draft.add_problem(str(source), f"holds no {articles.name} (found: {found}); put one article in each row there")
        return TableFiles(articles=None)
    return TableFiles(articles, headings if headings.exists() else None, questions if questions.exists() else None)


def draft_tables(
    draft: Draft, articles: Iterable[ArticleRow], headings: Iterable[HeadingRow], questions: Iterable[QuestionRow]
) -> None:
    """Fill a draft from the three tables."""
    paths = heading_paths(draft, headings)
    for row in articles:
        draft.add_article(
            row.place,
            article_id=row.article_id,
            title=row.title,
            text=row.text,
            path=_article_path(draft, row, paths),
            metadata=row.metadata,
        )
    for row in questions:
        draft.add_question(row.place, question_id=row.question_id, text=row.text, metadata=row.metadata)
        split = row.split or split_of(row.question_id)
        if split not in SPLITS:
            draft.add_problem(row.place, f"split '{split}' is not known; use one of {', '.join(SPLITS)}, or none")
        elif row.question_id:
            for article_id in row.article_ids:
                draft.add_label(row.place, question_id=row.question_id, article_id=article_id, split=split)


def _article_path(draft: Draft, row: ArticleRow, paths: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if not row.heading_id:
        return row.path
    if row.path:
        draft.add_problem(
            row.place, f"article '{row.article_id}' has both a path and the heading '{row.heading_id}'; keep one"
        )
    elif row.heading_id not in paths:
        draft.add_problem(
            row.place,
            f"article '{row.article_id}' stands under heading '{row.heading_id}', which does not exist; "
            "add it to the table of headings",
        )
    return paths.get(row.heading_id, (UNREADABLE,))
