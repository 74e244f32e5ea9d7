"""A law that the service answers from: its run once it is loaded, and the questions in progress."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from statgraph.device import give_back
from statgraph.errors import CorpusError, RewritingError, RunError, described, on_command_line
from statgraph.law.query import Query
from statgraph.retrieval.search.batching import BatcherClosedError, QuestionBatcher, QueueFullError
from statgraph.retrieval.search.hits import Explanation, Hit
from statgraph.retrieval.search.rewriting import DEPTH, fused
from statgraph.service.config import ServiceConfig
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.middleware import Metrics
from statgraph.service.problems import ProblemError

_Answer = TypeVar("_Answer")
_LOG = logging.getLogger("uvicorn.error")


class OpenRun:
    """A run in memory with the queue of its questions; used from one thread, that of the event loop."""

    def __init__(self, loaded_run: LoadedRun, *, most_waiting: int, on_batch: Callable[[int], None]):
        self.loaded_run = loaded_run
        self.questions = QuestionBatcher(loaded_run.retriever, max_waiting=most_waiting, on_batch=on_batch)
        self._users = 1  # the service, until it opens another run
        self._stopped = threading.Event()
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    @contextmanager
    def in_use(self) -> Iterator[OpenRun]:
        """Yield the run, which stays open until the block ends."""
        self._users += 1
        try:
            yield self
        finally:
            self.release()

    def release(self) -> None:
        """Use the run no longer; it is closed once nobody does, without waiting for that."""
        self._users -= 1
        if not self._users:
            # Not on this thread: a search that was given up may still go on.
            threading.Thread(target=_closed_and_freed, args=[[self]], name="closing", daemon=True).start()

    def close(self) -> None:
        """End the warm-up, and return once the searches in progress are answered."""
        self._stopped.set()
        self.questions.close()

    def _warm_up(self) -> None:
        try:
            self.loaded_run.warm_up(self._stopped.is_set)
        except Exception as error:  # the first reader prepares what is missing, or learns why not
            _LOG.warning("nothing was prepared for the first readers: %s", on_command_line(described(error)))


def _closed_and_freed(held: list[OpenRun]) -> None:
    """Close a run, the only one in a list, and give its memory back to the system."""
    held.pop().close()
    gc.collect()
    give_back()


class ServedLaw:
    """Answers 503 to every question until `open` gives it a run. `reopen` reads the run's folder again, and opens what
    it holds.

    Args:
        name: by which requests choose the law.
        config: of the service.
        metrics: of the service.
        feedback: the JSONL file that readers' marks are appended to; None takes none.
    """

    def __init__(self, name: str, config: ServiceConfig, metrics: Metrics, feedback: Path | None = None):
        self.name = name
        self.config = config
        self.metrics = metrics
        self.feedback = feedback
        metrics.ready.labels(name).set(0)
        self.reopen: Callable[[], Awaitable[None]] | None = None
        self._current: OpenRun | None = None
        self._changing = asyncio.Lock()
        # One at a time: they are Python for the most part, and would only slow one another and the searches.
        self._explaining = ThreadPoolExecutor(1, "explaining")
        self._explanations_waiting = 0

    def open(self, loaded_run: LoadedRun) -> None:
        """Answer new requests from a run from now on; those in progress are answered from the one before it."""
        before = self._current
        self._current = opened = OpenRun(
            loaded_run, most_waiting=self.config.most_waiting, on_batch=self.metrics.batches.labels(self.name).observe
        )
        self.metrics.waiting.labels(self.name).set_function(lambda: opened.questions.waiting)
        self.metrics.ready.labels(self.name).set(1)
        if before is not None:
            before.release()

    def close(self) -> None:
        """Shut down, once the searches in progress are answered."""
        self._explaining.shutdown(wait=False, cancel_futures=True)
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

    def require_editable(self) -> None:
        """Raise ProblemError with 403 unless clients may change the run."""
        if not self.config.editable or self.reopen is None:
            raise ProblemError(403, "this service changes no articles; start it with --editable")

    async def change(self, edit: Callable[[], object]) -> None:
        """Change the run's folder, one change at a time, and answer new requests from what it then holds.

        Raises:
            ProblemError: with 409 if the run cannot be changed now, 422 for an invalid article, 507 for a full disk.
        """
        async with self._changing:
            try:
                await asyncio.to_thread(edit)
            except CorpusError as error:
                raise ProblemError(422, "; ".join(map(on_command_line, error.problems))) from None
            except RunError as error:
                raise ProblemError(409, on_command_line(error)) from None
            except OSError as error:
                raise ProblemError(507, f"the run cannot be written ({error.strerror})") from None
            assert self.reopen is not None  # without it `require_editable` refuses
            await self.reopen()

    async def search(self, run: OpenRun, query: Query) -> list[Hit]:
        """Return the hits of a query in a run.

        Raises:
            ProblemError: with 503 if too many questions wait or the service is shutting down, 504 after the timeout.
        """
        try:
            future = run.questions.submit(query)
        except QueueFullError:
            raise self._unavailable("too many questions are in progress; retry in a moment") from None
        except BatcherClosedError:
            raise self._unavailable("the service is shutting down; retry in a moment") from None
        return await self._in_time(future, "search")

    async def search_rewritten(self, run: OpenRun, query: Query) -> tuple[list[Hit], str | None, str | None]:
        """Return the hits of a query, fused with those of its question in the law's words where the service rewrites
        questions; those words, and why there are none (None where that is not asked, or nothing went wrong)."""
        rewriter = self.config.rewriter
        if rewriter is None:
            return await self.search(run, query), None, None
        try:
            async with asyncio.timeout(rewriter.timeout_s):
                rewritten = await asyncio.to_thread(rewriter.rewrite, query.text)
        except (RewritingError, TimeoutError) as error:
            slow = f"{rewriter.url}: the question was not rewritten within {rewriter.timeout_s:g} s"
            return await self.search(run, query), None, str(error) or slow
        deeper = replace(query, k=max(query.k, DEPTH))
        wordings = deeper, replace(deeper, text=rewritten)
        found = await asyncio.gather(*(self.search(run, wording) for wording in wordings))
        return fused(found, query.k), rewritten, None

    async def explain(self, run: OpenRun, query: Query, hits: Sequence[Hit]) -> list[Explanation]:
        """Return why each hit of a query in a run was found.

        Raises:
            ProblemError: with 503 if too many explanations wait, 504 after the timeout.
        """
        if self._explanations_waiting >= self.config.most_waiting:
            raise self._unavailable("too many explanations are in progress; retry in a moment")
        future = self._explaining.submit(run.loaded_run.retriever.explain, query, hits)
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
