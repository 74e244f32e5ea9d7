"""What the routes share: the library once it is loaded, the questions under way, the marks, the figures."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.search.batching import BatcherClosedError, QuestionBatcher, QueueFullError
from statgraph.search.explanation import Explanation
from statgraph.search.retriever import Hit
from statgraph.service.config import ServiceConfig
from statgraph.service.feedback import FeedbackLog
from statgraph.service.library import Library
from statgraph.service.metrics import Metrics
from statgraph.service.problems import ProblemError

_Answer = TypeVar("_Answer")
# How long the thread that warms up keeps the others from Python. By default that is 5 ms, and a search, which takes
# turns by the dozen, waits as long for each of them.
_TURN_S = 0.0005


class Desk:
    """Opens with `open`; until then every question is turned away with 503.

    Attributes:
        config: the settings.
        metrics: the figures.
        feedback: where marks go; None takes none.
    """

    def __init__(self, config: ServiceConfig):
        self.config = config
        self.metrics = Metrics()
        self.feedback = FeedbackLog(config.feedback, max_bytes=config.max_feedback) if config.feedback else None
        self._library: Library | None = None
        self._questions: QuestionBatcher | None = None
        # One at a time: they are Python for the most part, and would only slow one another and the searches.
        self._explaining = ThreadPoolExecutor(1, "explaining")
        self._explanations_waiting = 0
        self._closed = threading.Event()

    @property
    def is_open(self) -> bool:
        """Return whether the run is loaded."""
        return self._library is not None

    def open(self, library: Library) -> None:
        """Answer from a library from now on."""
        self._questions = QuestionBatcher(
            library, max_waiting=self.config.most_waiting, on_batch=self.metrics.searched_together
        )
        self.metrics.watch_waiting(lambda: self._questions.waiting)
        self.metrics.ready()
        self._library = library
        threading.Thread(target=self._warm_up, args=[library], name="warm-up", daemon=True).start()

    def close(self) -> None:
        """End the questions under way."""
        self._closed.set()
        self._explaining.shutdown(wait=False, cancel_futures=True)
        if self._library is not None:
            self._library.surroundings.references.stop()
            self._questions.close()

    @property
    def library(self) -> Library:
        """Return the library.

        Raises:
            ProblemError: with 503 while it is loading.
        """
        if self._library is None:
            raise self._come_back("the run is still being loaded; ask again in a moment")
        return self._library

    async def search(self, question: str, k: int, among: AllowedRows | None) -> list[Hit]:
        """Return the hits of a question.

        Raises:
            ProblemError: with 503 if too many questions wait or the service ends, 504 if this one takes too long.
            UsageError: if the question is blank.
        """
        try:
            future = self._questions.submit(question, k, among)
        except QueueFullError:
            raise self._come_back("too many questions are under way; ask again in a moment") from None
        except BatcherClosedError:
            raise self._come_back("the service is ending; ask again in a moment") from None
        return await self._in_time(future, "search")

    async def explain(self, question: str, hits: Sequence[Hit]) -> list[Explanation]:
        """Return why each hit was found.

        Raises:
            ProblemError: with 503 if too many explanations wait or the service ends, 504 if this one takes too long.
        """
        if self._explanations_waiting >= self.config.most_waiting:
            raise self._come_back("too many explanations are under way; ask again in a moment")
        try:
            future = self._explaining.submit(self.library.explain, question, hits)
        except RuntimeError:  # after `shutdown`
            raise self._come_back("the service is ending; ask again in a moment") from None
        self._explanations_waiting += 1
        try:
            return await self._in_time(future, "explanation")
        finally:
            self._explanations_waiting -= 1

    def _warm_up(self, library: Library) -> None:
        turn_s = sys.getswitchinterval()
        sys.setswitchinterval(_TURN_S)
        try:
            library.warm_up(self._closed.is_set)
        finally:
            sys.setswitchinterval(turn_s)

    async def _in_time(self, future: Future[_Answer], what: str) -> _Answer:
        try:
            async with asyncio.timeout(self.config.timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise ProblemError(
                504, f"the {what} took longer than {self.config.timeout_s:g} s and was given up; ask again later"
            ) from None

    def _come_back(self, detail: str) -> ProblemError:
        return ProblemError(503, detail, headers={"Retry-After": str(self.config.retry_after_s)})
