"""What the routes share: the run once it is loaded, the questions in progress, the feedback, the metrics."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RewritingError
from statgraph.search.batching import BatcherClosedError, QuestionBatcher, QueueFullError
from statgraph.search.hits import Explanation, Hit
from statgraph.search.rewriting import DEPTH, fused
from statgraph.service.config import ServiceConfig
from statgraph.service.feedback import FeedbackLog
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.problems import ProblemError
from statgraph.service.request_log import Metrics

_Answer = TypeVar("_Answer")
# How long the warm-up thread keeps the interpreter from the others. The default is 5 ms, and a search switches threads
# dozens of times.
_TURN_S = 0.0005
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
        self._loaded_run: LoadedRun | None = None
        self._questions: QuestionBatcher | None = None
        # One at a time: they are Python for the most part, and would only slow one another and the searches.
        self._explaining = ThreadPoolExecutor(1, "explaining")
        self._explanations_waiting = 0
        self._rewriting = ThreadPoolExecutor(_REWRITTEN_AT_ONCE, "rewriting")
        self._closed = threading.Event()

    def open(self, loaded_run: LoadedRun) -> None:
        """Answer from a run from now on."""
        self._questions = QuestionBatcher(
            loaded_run, max_waiting=self.config.most_waiting, on_batch=self.metrics.batches.observe
        )
        self.metrics.waiting.set_function(lambda: self._questions.waiting)
        self.metrics.ready.set(1)
        self._loaded_run = loaded_run
        threading.Thread(target=self._warm_up, args=[loaded_run], name="warm-up", daemon=True).start()

    def close(self) -> None:
        """Shut down, once the searches in progress are answered."""
        self._closed.set()
        self._explaining.shutdown(wait=False, cancel_futures=True)
        self._rewriting.shutdown(wait=False, cancel_futures=True)
        if self._loaded_run is not None:
            self._loaded_run.surroundings.references.stop()
            self._questions.close()

    @property
    def loaded_run(self) -> LoadedRun:
        """Return the run.

        Raises:
            ProblemError: with 503 while it is loading.
        """
        if self._loaded_run is None:
            raise self._unavailable("the run is still loading; retry in a moment")
        return self._loaded_run

    async def search(self, question: str, k: int, allowed: AllowedRows | None) -> list[Hit]:
        """Return the hits of a question.

        Raises:
            ProblemError: with 503 if too many questions wait or the service is shutting down, 504 after the timeout.
            UsageError: if the question is blank.
        """
        try:
            future = self._questions.submit(question, k, allowed)
        except QueueFullError:
            raise self._unavailable("too many questions are in progress; retry in a moment") from None
        except BatcherClosedError:
            raise self._unavailable("the service is shutting down; retry in a moment") from None
        return await self._in_time(future, "search")

    async def search_rewritten(
        self, question: str, k: int, allowed: AllowedRows | None
    ) -> tuple[list[Hit], str | None, str | None]:
        """Return the hits of a question, fused with those of the question in the law's words where the service rewrites
        questions; those words, and why there are none (None where that is not asked, or nothing went wrong).

        Raises:
            ProblemError, UsageError: as in `search`.
        """
        rewriter = self.config.rewriter
        if rewriter is None:
            return await self.search(question, k, allowed), None, None
        try:
            future = self._rewriting.submit(rewriter.rewrite, question)
            async with asyncio.timeout(rewriter.timeout_s):
                rewritten = await asyncio.wrap_future(future)
        except (RewritingError, TimeoutError) as error:
            slow = f"{rewriter.url}: the question was not rewritten within {rewriter.timeout_s:g} s"
            return await self.search(question, k, allowed), None, str(error) or slow
        except RuntimeError:  # after `shutdown`
            raise self._unavailable("the service is shutting down; retry in a moment") from None
        found = await asyncio.gather(
            *(self.search(wording, max(k, DEPTH), allowed) for wording in (question, rewritten))
        )
        return fused(found, k), rewritten, None

    async def explain(self, question: str, hits: Sequence[Hit], allowed: AllowedRows | None) -> list[Explanation]:
        """Return why each hit of a search was found.

        Raises:
            ProblemError: with 503 if too many explanations wait or the service is shutting down, 504 after the timeout.
        """
        if self._explanations_waiting >= self.config.most_waiting:
            raise self._unavailable("too many explanations are in progress; retry in a moment")
        try:
            future = self._explaining.submit(self.loaded_run.explain, question, hits, among=allowed)
        except RuntimeError:  # after `shutdown`
            raise self._unavailable("the service is shutting down; retry in a moment") from None
        self._explanations_waiting += 1
        try:
            return await self._in_time(future, "explanation")
        finally:
            self._explanations_waiting -= 1

    def _warm_up(self, loaded_run: LoadedRun) -> None:
        turn_s = sys.getswitchinterval()
        sys.setswitchinterval(_TURN_S)
        try:
            loaded_run.warm_up(self._closed.is_set)
        finally:
            sys.setswitchinterval(turn_s)

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
