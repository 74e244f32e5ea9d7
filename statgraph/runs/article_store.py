"""The articles of a run on disk, read one at a time, so that a search holds no text it does not show."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.artifacts import array_damage_told, read_array, replaced_file
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.citations.named_articles import NamedArticles
from statgraph.corpus.records import Article
from statgraph.corpus.structure import Structure
from statgraph.corpus.tree import Tree, tree_of
from statgraph.corpus.validity import FOR_EVER, SINCE_EVER, days_in_force
from statgraph.corpus.where import Where
from statgraph.errors import RunError
from statgraph.runs import parts

ARTICLES, OFFSETS, DATES = (part.name for part in (parts.ARTICLES, parts.ARTICLE_OFFSETS, parts.ARTICLE_DATES))
STRUCTURE = parts.STRUCTURE.name
_READ_AT_ONCE = 256
_MAX_DAYS = 16  # whose rows in force are kept


@dataclass(frozen=True, slots=True)
class ArticleOutline:
    """An article without its text."""

    article_id: str
    title: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class StoredArticle:
    """What a hit shows of an article."""

    article_id: str
    title: str
    text: str
    path: tuple[str, ...]


def write_article_store(articles: Sequence[Article], folder: Path) -> None:
    """Write `articles.jsonl`, the byte offset of each line (articles + 1,) int64, when they are in force, and the law's
    structure."""
    offsets = [0]
    with (folder / ARTICLES).open("wb") as file:
        for article in articles:
            line = json.dumps([article.article_id, article.title, article.text, article.path], ensure_ascii=False)
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
        self._path = Path(folder) / ARTICLES
        try:
            with array_damage_told():
                self._offsets = np.load(Path(folder) / OFFSETS, mmap_mode="r", allow_pickle=False)
                n_dimensions = self._offsets.ndim
            self._file = self._path.open("rb", buffering=0)
            size = os.fstat(self._file.fileno()).st_size
        except (OSError, ValueError) as error:
            raise RunError(f"{folder}: the articles of the run are not readable ({error}); train it again") from None
        self._structure: Structure | None = None
        self._named: NamedArticles | None = None
        self._lock = threading.Lock()  # of what is made once
        self._in_force: dict[int, AllowedRows | None] = {}  # by day
        if n_dimensions != 1 or self._offsets.dtype != np.int64 or not len(self._offsets):
            raise RunError(f"{Path(folder) / OFFSETS}: not the offsets of articles; train the run again")
        if size != self._offsets[-1]:
            raise RunError(f"{self._path}: {size} bytes where {self._offsets[-1]} were written; train the run again")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @cached_property
    def outlines(self) -> tuple[ArticleOutline, ...]:
        """Return every article without its text, in row order; those of one heading share one path."""
        paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        return tuple(
            ArticleOutline(article.article_id, article.title, paths.setdefault(article.path, article.path))
            for article in self
        )

    @cached_property
    def tree(self) -> Tree:
        """Return the tree above the articles."""
        return tree_of(self.outlines)

    @property
    def has_structure(self) -> bool:
        """Return whether the run has saved the law's structure; runs of older versions have not."""
        return (self._path.parent / STRUCTURE).is_file()

    @property
    def structure(self) -> Structure:
        """Return the law's structure as the run has saved it, or made from its articles: seconds, for a large law.

        Raises:
            RunError: if what it has saved is damaged.
        """
        with self._lock:
            if self._structure is None:
                if self.has_structure:
                    self._structure = Structure.read(self._path.parent / STRUCTURE, len(self))
                else:
                    self._structure = Structure.of(self.read_all(), self.tree)
            return self._structure

    @property
    def named_articles(self) -> NamedArticles:
        """Return what finds the articles that a text names by number; made once, a second for a large law."""
        with self._lock:
            if self._named is None:
                titles, paths = zip(*((outline.title, outline.path) for outline in self.outlines), strict=True)
                self._named = NamedArticles(titles, paths)
            return self._named

    @cached_property
    def days_in_force(self) -> np.ndarray | None:
        """Return (articles, 2) int32, the first day in force and the first after, or None where none has a date.

        Raises:
            RunError: if the file is damaged, or of other articles.
        """
        path = self._path.parent / DATES
        return read_array(path, (len(self), 2), "int32", remedy="train the run again") if path.is_file() else None

    def in_force(self, day: int | None) -> AllowedRows | None:
        """Return the article rows that are in force on a day (an ordinal, None for any day); None is all of them."""
        if day is None or self.days_in_force is None:
            return None
        kept = dict(self._in_force)  # another thread may write it meanwhile
        if day not in kept:
            first, after = self.days_in_force.T
            rows = AllowedRows.of_mask((first <= day) & (day < after), Where(day=day))
            kept = {} if len(kept) >= _MAX_DAYS else kept
            kept[day] = None if len(rows) == len(self) else rows
            self._in_force = kept
        return kept[day]

    def read(self, rows: Sequence[int]) -> list[StoredArticle]:
        """Return the articles of these rows, in the order of the rows.

        Raises:
            RunError: if one of them is damaged.
        """
        articles = []
        for row in rows:
            start, end = int(self._offsets[row]), int(self._offsets[row + 1])
            try:
                if not 0 <= start < end <= self._offsets[-1]:
                    raise ValueError("not the place of an article")
                article_id, title, text, path = json.loads(os.pread(self._file.fileno(), end - start, start))
            except ValueError:
                raise RunError(f"{self._path}:{row + 1}: damaged; train the run again") from None
            articles.append(StoredArticle(article_id, title, text, tuple(path)))
        return articles

    def __iter__(self) -> Iterator[StoredArticle]:
        """Yield every article, in row order, with a few in memory at a time."""
        for start in range(0, len(self), _READ_AT_ONCE):
            yield from self.read(range(start, min(start + _READ_AT_ONCE, len(self))))

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
