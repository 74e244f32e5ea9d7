"""Separate tables of articles, headings and questions: what the formats jsonl and csv share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.corpus.lines import UNREADABLE
from statgraph.corpus.records import SPLITS, split_of

MAX_LISTED_CYCLE = 8


@dataclass(frozen=True, slots=True)
class HeadingRow:
    """One heading as its source gives it; `parent_id` is "" for a code."""

    place: str
    heading_id: str
    title: str
    parent_id: str


def heading_paths(draft: Draft, rows: Iterable[HeadingRow]) -> dict[str, tuple[str, ...]]:
    """Return the path of each heading id: the titles from the code down to its own.

    Headings with the same title and parent become one heading. A repeated or missing id, an empty title, a missing
    parent and a heading that is its own ancestor become problems of the draft.
    """
    headings = _unique_headings(draft, rows)
    paths: dict[str, tuple[str, ...]] = {}
    for heading_id in headings:
        chain: dict[str, None] = {}  # the ids from this heading upwards, in that order
        above = heading_id
        while above in headings and above not in paths and above not in chain:
            chain[above] = None
            above = headings[above].parent_id
        if above in chain:
            _add_cycle(draft, headings, list(chain)[list(chain).index(above) :])
        elif above and above not in headings:
            lowest = headings[next(reversed(chain))]
            draft.add_problem(
                lowest.place,
                f"heading '{lowest.heading_id}' has the parent '{above}', which does not exist; "
                "add that heading or leave the parent empty",
            )
        path = paths.get(above, ()) if not above or above in paths else (UNREADABLE,)
        for below in reversed(chain):
            path = (*path, headings[below].title)
            paths[below] = path
    return paths


def _unique_headings(draft: Draft, rows: Iterable[HeadingRow]) -> dict[str, HeadingRow]:
    headings: dict[str, HeadingRow] = {}
    for row in rows:
        if not row.heading_id:
            draft.add_problem(row.place, "heading has no id; give every heading a unique 'id'")
        elif row.heading_id in headings:
            first_line = headings[row.heading_id].place.rpartition(":")[2]
            draft.add_problem(
                row.place,
                f"heading id '{row.heading_id}' appears twice (first on line {first_line}); ids must be unique",
            )
        else:
            headings[row.heading_id] = row if row.title else replace(row, title=UNREADABLE)
            if not row.title:
                draft.add_problem(
                    row.place, f"heading '{row.heading_id}' has an empty title; fill it or remove the heading"
                )
    return headings


def _add_cycle(draft: Draft, headings: Mapping[str, HeadingRow], cycle: list[str]) -> None:
    rank = {heading_id: rank for rank, heading_id in enumerate(headings)}
    start = cycle.index(min(cycle, key=rank.__getitem__))
    round_trip = [*cycle[start:], *cycle[: start + 1]]
    if len(round_trip) > MAX_LISTED_CYCLE:
        round_trip = [*round_trip[: MAX_LISTED_CYCLE - 2], "...", round_trip[-1]]
    row = headings[cycle[start]]
    draft.add_problem(
        row.place,
        f"heading '{row.heading_id}' is its own ancestor ({' under '.join(round_trip)}); "
        "correct one of these parents so that the headings form a tree",
    )


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
            draft.add_problem(row.place, f"unknown split '{split}'; use one of {', '.join(SPLITS)}, or none")
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
            f"article '{row.article_id}' is under heading '{row.heading_id}', which does not exist; "
            "add it to the table of headings",
        )
    return paths.get(row.heading_id, (UNREADABLE,))
