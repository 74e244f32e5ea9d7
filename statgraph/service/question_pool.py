"""A bounded queue of questions before a few threads that search."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from statgraph.search.retriever import Hit

Search = Callable[[str, int, np.ndarray | None], list[Hit]]


class QueueFullError(Exception):
    """As many questions wait as may, or none is taken any more."""


class QuestionPool:
    """Searches questions on threads of its own; `submit` may be called from any thread.

    Args:
        search: (question, k, among) -> hits.
        workers: how many questions are searched at a time.
        most_waiting: how many may be under way in all.
    """

    def __init__(self, search: Search, *, workers: int = 2, most_waiting: int = 64):
        self._search = search
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="question")
        self._places = threading.BoundedSemaphore(most_waiting)
        self._lock = threading.Lock()
        self._under_way = 0

    @property
    def waiting(self) -> int:
        """Return how many questions are under way."""
        return self._under_way

    def submit(self, question: str, k: int, among: np.ndarray | None = None) -> Future[list[Hit]]:
        """Return the future hits of a question.

        Raises:
            QueueFullError: if too many questions are under way already, or after `close`.
        """
        if not self._places.acquire(blocking=False):
            raise QueueFullError
        self._count(1)
        try:
            future = self._threads.submit(self._search, question, k, among)
        except RuntimeError:  # the threads have been ended
            self._leave()
            raise QueueFullError from None
        future.add_done_callback(lambda _: self._leave())
        return future

    def close(self) -> None:
        """Wait for the questions under way and end the threads."""
        self._threads.shutdown(wait=True)

    def _leave(self) -> None:
        self._count(-1)
        self._places.release()

    def _count(self, step: int) -> None:
        with self._lock:
            self._under_way += step
