"""The articles of a run on disk, read one at a time, so that a search holds no text it does not show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from statgraph.artifacts import read_array, reading, replaced_file
from statgraph.law.allowed_rows import AllowedRows, Where
from statgraph.law.citations.named_articles import NamedArticles
from statgraph.law.records import Article
from statgraph.law.structure import Structure
from statgraph.law.titles import number_or_title
from statgraph.law.tree import Tree, tree_of
from statgraph.law.validity import FOR_EVER, SINCE_EVER, days_in_force
from statgraph.runs import parts

ARTICLES, OFFSETS, DATES = (part.name for part in (parts.ARTICLES, parts.ARTICLE_OFFSETS, parts.ARTICLE_DATES))
STRUCTURE = parts.STRUCTURE.name


@dataclass(frozen=True)
class StoredArticle:
    """What a hit shows of an article."""

    article_id: str
    title: str
    text: str
    path: tuple[str, ...]
    number: str = ""
    rubric: str = ""


def write_article_store(articles: Sequence[Article], folder: Path) -> None:
    """Write `articles.jsonl`, the byte offset of each line (articles + 1,) int64, when they are in force, and the law's
    structure."""
    offsets = [0]
    with (folder / ARTICLES).open("wb") as file:
        for article in articles:
            fields = (article.article_id, article.title, article.text, article.path, article.number, article.rubric)
            line = json.dumps([*fields, *filter(None, [article.addresses])], ensure_ascii=False)
            offsets.append(offsets[-1] + file.write(line.encode("utf-8") + b"\n"))
    _write_array(folder / OFFSETS, np.array(offsets, dtype=np.int64))
    write_article_dates(articles, folder)
    Structure.of(articles).write(folder / STRUCTURE)


class ArticleStore:
    """Articles by row, in the order of the corpus that the run was trained on.

    The file is opened once: a process that has loaded a run goes on with its articles when another puts a new run in
    its place. `read` may be called from any thread.
    """

    def __init__(self, folder: Path):
        self._folder = Path(folder)
        self._path = self._folder / ARTICLES
        with reading(self._folder):
            self._offsets = np.load(self._folder / OFFSETS, mmap_mode="r", allow_pickle=False)
            self._file = self._path.open("rb", buffering=0)
            size = os.fstat(self._file.fileno()).st_size
            if self._offsets.ndim != 1 or self._offsets.dtype != np.int64 or not len(self._offsets):
                raise ValueError(f"{OFFSETS} are not the offsets of articles")
            if size != self._offsets[-1]:
                raise ValueError(f"{ARTICLES} has {size} bytes where {self._offsets[-1]} were written")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @cached_property
    def outlines(self) -> tuple[StoredArticle, ...]:
        """Return every article with a blank text, in row order; those of one heading share one path."""
        paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        return tuple(replace(article, text="", path=paths.setdefault(article.path, article.path)) for article in self)

    @cached_property
    def tree(self) -> Tree:
        """Return the tree above the articles."""
        return tree_of(self.outlines)

    @cached_property
    def structure(self) -> Structure:
        """Return the law's structure; RunError if it is damaged."""
        return Structure.read(self._folder / STRUCTURE, len(self))

    @cached_property
    def named_articles(self) -> NamedArticles:
        """Return what finds the articles that a text names by number; a second's work for a large law."""
        titles, paths = zip(*((outline.title, outline.path) for outline in self.outlines), strict=True)
        return NamedArticles(titles, paths, list(map(number_or_title, self.outlines)))

    @cached_property
    def days_in_force(self) -> np.ndarray | None:
        """Return (articles, 2) int32, the first day in force and the first after, or None where none has a date.

        Raises:
            RunError: if the file is damaged, or of other articles.
        """
        path = self._folder / DATES
        return read_array(path, (len(self), 2), "int32") if path.is_file() else None

    def validity(self, row: int) -> tuple[str | None, str | None]:
        """Return (first day in force, first day after) of an article as ISO dates, None where there is none."""
        if self.days_in_force is None:
            return None, None
        first, after = self.days_in_force[row].tolist()
        return (
            None if first == SINCE_EVER else date.fromordinal(first).isoformat(),
            None if after == FOR_EVER else date.fromordinal(after).isoformat(),
        )

    def in_force(self, day: int | None) -> AllowedRows | None:
        """Return the article rows that are in force on a day (an ordinal, None for any day); None is all of them."""
        if day is None or self.days_in_force is None:
            return None
        first, after = self.days_in_force.T
        rows = AllowedRows.of_mask((first <= day) & (day < after), Where(day=day))
        return None if len(rows) == len(self) else rows

    def read(self, rows: Sequence[int]) -> list[StoredArticle]:
        """Return the articles of these rows, in the order of the rows; RunError if one of them is damaged."""
        return [self._article(int(row)) for row in rows]

    def addresses(self, row: int) -> list[str]:
        """Return the web addresses of what an article refers to outside its law."""
        return [str(address) for address in (self._fields(row)[6:] or [()])[0]]

    def _article(self, row: int) -> StoredArticle:
        article_id, title, text, path, *named = self._fields(row)[:6]
        return StoredArticle(article_id, title, text, tuple(path), *named)

    def _fields(self, row: int) -> list[Any]:
        """Return the fields of an article as they were written; those without addresses end before them."""
        with reading(f"{self._path}:{row + 1}"):
            start, end = int(self._offsets[row]), int(self._offsets[row + 1])
            if not 0 <= start < end <= self._offsets[-1]:
                raise ValueError("not the place of an article")
            fields = json.loads(os.pread(self._file.fileno(), end - start, start))
            if not isinstance(fields, list) or len(fields) < 4:
                raise ValueError("not an article")
            return fields

    def __iter__(self) -> Iterator[StoredArticle]:
        """Yield every article, in row order, one in memory at a time."""
        return (self._article(row) for row in range(len(self)))

    def read_all(self) -> list[StoredArticle]:
        """Return every article, in row order."""
        return self.read(range(len(self)))


def write_article_dates(articles: Sequence[Article], folder: Path) -> None:
    """Write the first day in force of each article and the first after, (articles, 2) int32 ordinals; no file where no
    article has a date."""
    days = np.array([days_in_force(article.metadata) for article in articles], dtype=np.int32).reshape(-1, 2)
    (folder / DATES).unlink(missing_ok=True)
    if (days != (SINCE_EVER, FOR_EVER)).any():
        _write_array(folder / DATES, days)


def _write_array(path: Path, array: np.ndarray) -> None:
    with replaced_file(path) as staging, staging.open("wb") as file:
        np.save(file, array, allow_pickle=False)
