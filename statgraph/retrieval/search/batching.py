"""Questions of many callers, searched together: one pass through the encoder costs little more for ten than for one."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from statgraph.errors import StatgraphError, UsageError
from statgraph.law.query import Query, queries_of
from statgraph.retrieval.search.hits import Hit

if TYPE_CHECKING:
    from statgraph.retrieval.search.retriever import Retriever


class QueueFullError(StatgraphError):
    """As many questions wait as may; a service answers 503."""


class BatcherClosedError(StatgraphError):
    """A question after `QuestionBatcher.close`."""


_Waiting = tuple[Query, "Future[list[Hit]]"]


class QuestionBatcher:
    """Searches whatever waits when the last search is done, on one thread of its own; safe to use from any thread.

    The hits are those of `Retriever.search`, scores to within rounding. A caller who is alone is answered at once.
    Where the last batch held more than one question, as many are awaited again, `max_wait_ms` at most: callers who
    have just been answered are about to ask again.

    Args:
        retriever: what searches; it is only used on the one thread.
        max_batch: how many questions are searched together at most.
        max_wait_ms: how long a batch waits for as many questions as the last one held.
        max_waiting: how many questions may wait for their batch.
        on_batch: called with the number of questions of each batch, on that thread; what it raises is logged.

    Raises:
        UsageError: if a number is out of range.
    """

    def __init__(
        self,
        retriever: Retriever,
        *,
        max_batch: int = 32,
        max_wait_ms: float = 2.0,
        max_waiting: int = 256,
        on_batch: Callable[[int], None] = lambda questions: None,
    ):
        if not (max_batch >= 1 and max_wait_ms >= 0 and max_waiting >= 1):
            raise UsageError(
                f"max_batch ({max_batch}) and max_waiting ({max_waiting}) must be at least 1, "
                f"max_wait_ms ({max_wait_ms}) at least 0"
            )
        self._retriever = retriever
        self._max_batch, self._max_wait_s, self._max_waiting = max_batch, max_wait_ms / 1000, max_waiting
        self._on_batch = on_batch
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="question-batcher", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Return how many questions wait for their batch."""
        return len(self._queue)

    def submit(self, question: str | Query, k: int = 10, **limits: object) -> Future[list[Hit]]:
        """Return the future hits of a question, as of `Retriever.search`; cancelling it in time spares the search.

        Raises:
            UsageError: as `Query` does.
            QueueFullError: if `max_waiting` questions wait already.
            BatcherClosedError: after `close`.
        """
        (query,) = queries_of([question], k, limits)
        future: Future[list[Hit]] = Future()
        with self._changed:
            if self._closed:
                raise BatcherClosedError("the questions' batcher is closed; make another one")
            if len(self._queue) >= self._max_waiting:
                raise QueueFullError(
                    f"{len(self._queue)} questions wait already (max_waiting={self._max_waiting}); ask again later"
                )
            self._queue.append((query, future))
            self._changed.notify()
        return future

    def search(
        self, question: str | Query, k: int = 10, *, timeout_s: float | None = None, **limits: object
    ) -> list[Hit]:
        """Return the hits of a question.

        Raises:
            TimeoutError: if they are not there after `timeout_s` seconds.
            StatgraphError: as in `submit` and `Retriever.search`.
        """
        future = self.submit(question, k, **limits)
        try:
            return future.result(timeout_s)
        finally:
            future.cancel()

    def close(self) -> None:
        """Take no more questions, answer those that wait, then end the thread; may be called again."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> QuestionBatcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _work(self) -> None:
        last = 1
        while batch := self._next_batch(last):
            last = len(batch)
            running = [(query, future) for query, future in batch if future.set_running_or_notify_cancel()]
            if not running:
                continue
            self._answer(running)
            try:
                self._on_batch(len(running))
            except Exception:  # a thread that ended here would leave every later caller waiting
                logging.getLogger(__name__).exception("on_batch failed")

    def _next_batch(self, expected: int) -> list[_Waiting]:
        """Return the questions to search next, none once the batcher is closed and all are answered."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed)
            enough = min(expected, self._max_batch)
            self._changed.wait_for(lambda: len(self._queue) >= enough or self._closed, self._max_wait_s)
            return [self._queue.popleft() for _ in range(min(len(self._queue), self._max_batch))]

    def _answer(self, batch: Sequence[_Waiting]) -> None:
        """Search the queries together, or each alone where that fails: the error may be of one of them."""
        try:
            found = self._retriever.search_many([query for query, _ in batch])
            answers = list(zip(batch, found, strict=True))
        except Exception as error:  # whatever it is, it is the caller's
            if len(batch) == 1:
                batch[0][1].set_exception(error)
            else:
                for waiting in batch:
                    self._answer([waiting])
            return
        for (_, future), hits in answers:
            future.set_result(hits)
