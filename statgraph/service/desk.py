"""What the routes share: the library once it is loaded, the questions under way, the marks, the figures."""

from __future__ import annotations

import asyncio

import numpy as np

from statgraph.search.batching import BatcherClosedError, QuestionBatcher, QueueFullError
from statgraph.search.retriever import Hit
from statgraph.service.config import ServiceConfig
from statgraph.service.feedback import FeedbackLog
from statgraph.service.library import Library
from statgraph.service.metrics import Metrics
from statgraph.service.problems import ProblemError


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
        library.surroundings.references.start()
        self._library = library

    def close(self) -> None:
        """End the questions under way."""
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

    async def search(self, question: str, k: int, among: np.ndarray | None) -> list[Hit]:
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
        try:
            async with asyncio.timeout(self.config.timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise ProblemError(
                504, f"the search took longer than {self.config.timeout_s:g} s and was given up; ask again later"
            ) from None

    def _come_back(self, detail: str) -> ProblemError:
        return ProblemError(503, detail, headers={"Retry-After": str(self.config.retry_after_s)})
