"""What the routes share: the run once it is loaded, the questions in progress, the feedback, the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RewritingError
from statgraph.search.batching import BatcherClosedError, QueueFullError
from statgraph.search.hits import Explanation, Hit
from statgraph.search.rewriting import DEPTH, fused
from statgraph.service.config import ServiceConfig
from statgraph.service.feedback import FeedbackLog
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.open_run import OpenRun
from statgraph.service.problems import ProblemError
from statgraph.service.request_log import Metrics

_Answer = TypeVar("_Answer")
_REWRITTEN_AT_ONCE = 16


class ServiceState:
    """Answers 503 to every question until `open` gives it a run.

    Attributes:
        config: the settings.
        metrics: the service's metrics.
        feedback: where marks are appended; None takes none.
    """

    def __init__(self, config: ServiceConfig):
        self.config = config
        self.metrics = Metrics()
        self.feedback = FeedbackLog(config.feedback, max_bytes=config.max_feedback) if config.feedback else None
        self._current: OpenRun | None = None
        # One at a time: they are Python for the most part, and would only slow one another and the searches.
        self._explaining = ThreadPoolExecutor(1, "explaining")
        self._explanations_waiting = 0
        self._rewriting = ThreadPoolExecutor(_REWRITTEN_AT_ONCE, "rewriting")

    def open(self, loaded_run: LoadedRun) -> None:
        """Answer new requests from a run from now on; those in progress are answered from the one before it."""
        before = self._current
        self._current = opened = OpenRun(
            loaded_run, most_waiting=self.config.most_waiting, on_batch=self.metrics.batches.observe
        )
        self.metrics.waiting.set_function(lambda: opened.questions.waiting)
        self.metrics.ready.set(1)
        if before is not None:
            before.retire()

    def close(self) -> None:
        """Shut down, once the searches in progress are answered."""
        self._explaining.shutdown(wait=False, cancel_futures=True)
        self._rewriting.shutdown(wait=False, cancel_futures=True)
        if self._current is not None:
            self._current.close()

    @property
    def current(self) -> OpenRun:
        """Return the run that new requests are answered from.

        Raises:
            ProblemError: with 503 while it is loading.
        """
        if self._current is None:
            raise self._unavailable("the run is still loading; retry in a moment")
        return self._current

    async def search(self, run: OpenRun, question: str, k: int, allowed: AllowedRows | None) -> list[Hit]:
        """Return the hits of a question in a run.

        Raises:
            ProblemError: with 503 if too many questions wait or the service is shutting down, 504 after the timeout.
            UsageError: if the question is blank.
        """
        try:
            future = run.questions.submit(question, k, allowed)
        except QueueFullError:
            raise self._unavailable("too many questions are in progress; retry in a moment") from None
        except BatcherClosedError:
            raise self._unavailable("the service is shutting down; retry in a moment") from None
        return await self._in_time(future, "search")

    async def search_rewritten(
        self, run: OpenRun, question: str, k: int, allowed: AllowedRows | None
    ) -> tuple[list[Hit], str | None, str | None]:
        """Return the hits of a question, fused with those of the question in the law's words where the service rewrites
        questions; those words, and why there are none (None where that is not asked, or nothing went wrong).

        Raises:
            ProblemError, UsageError: as in `search`.
        """
        rewriter = self.config.rewriter
        if rewriter is None:
            return await self.search(run, question, k, allowed), None, None
        try:
            future = self._rewriting.submit(rewriter.rewrite, question)
            async with asyncio.timeout(rewriter.timeout_s):
                rewritten = await asyncio.wrap_future(future)
        except (RewritingError, TimeoutError) as error:
            slow = f"{rewriter.url}: the question was not rewritten within {rewriter.timeout_s:g} s"
            return await self.search(run, question, k, allowed), None, str(error) or slow
        except RuntimeError:  # after `shutdown`
            raise self._unavailable("the service is shutting down; retry in a moment") from None
        found = await asyncio.gather(
            *(self.search(run, wording, max(k, DEPTH), allowed) for wording in (question, rewritten))
        )
        return fused(found, k), rewritten, None

    async def explain(
        self, run: OpenRun, question: str, hits: Sequence[Hit], allowed: AllowedRows | None
    ) -> list[Explanation]:
        """Return why each hit of a search in a run was found.

        Raises:
            ProblemError: with 503 if too many explanations wait or the service is shutting down, 504 after the timeout.
        """
        if self._explanations_waiting >= self.config.most_waiting:
            raise self._unavailable("too many explanations are in progress; retry in a moment")
        try:
            future = self._explaining.submit(run.loaded_run.explain, question, hits, among=allowed)
        except RuntimeError:  # after `shutdown`
            raise self._unavailable("the service is shutting down; retry in a moment") from None
        self._explanations_waiting += 1
        try:
            return await self._in_time(future, "explanation")
        finally:
            self._explanations_waiting -= 1

    async def _in_time(self, future: Future[_Answer], what: str) -> _Answer:
        try:
            async with asyncio.timeout(self.config.timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise ProblemError(
                504, f"the {what} took longer than {self.config.timeout_s:g} s and was cancelled; retry later"
            ) from None

    def _unavailable(self, detail: str) -> ProblemError:
        return ProblemError(503, detail, headers={"Retry-After": str(self.config.retry_after_s)})
