"""The references between the articles of a run, both ways."""

from __future__ import annotations

import threading

from statgraph.corpus.citations.references import ReferenceFinder
from statgraph.search.article_store import ArticleStore
from statgraph.service.contents import Contents

_READ_AT_ONCE = 256


class ReferenceIndex:
    """Reads every article once, at the latest when it is asked; who asks while it reads waits for it.

    Args:
        contents: the articles' titles and places.
        store: their texts.
    """

    def __init__(self, contents: Contents, store: ArticleStore):
        self._contents = contents
        self._store = store
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._to: dict[int, tuple[int, ...]] | None = None
        self._by: dict[int, list[int]] = {}

    def build(self) -> None:
        """Read the articles, unless that is done."""
        with self._lock:
            if self._to is not None:
                return
            outlines = self._contents.outlines
            finder = ReferenceFinder([outline.title for outline in outlines], [outline.path[0] for outline in outlines])
            to: dict[int, tuple[int, ...]] = {}
            for start in range(0, len(outlines), _READ_AT_ONCE):
                if self._stopped.is_set():
                    break
                rows = range(start, min(start + _READ_AT_ONCE, len(outlines)))
                for row, article in zip(rows, self._store.read(rows), strict=True):
                    named = tuple(other for other in finder.find(article.text, article.path[0]) if other != row)
                    if named:
                        to[row] = named
            for row, named in to.items():
                for other in named:
                    self._by.setdefault(other, []).append(row)
            self._to = to

    def stop(self) -> None:
        """Read no further; articles then refer to nothing."""
        self._stopped.set()

    def refers_to(self, article_row: int) -> tuple[int, ...]:
        """Return the rows of the articles that an article names, in the order of its text."""
        self.build()
        return self._to.get(article_row, ())

    def referred_by(self, article_row: int) -> tuple[int, ...]:
        """Return the rows of the articles that name an article, ascending."""
        self.build()
        return tuple(self._by.get(article_row, ()))
