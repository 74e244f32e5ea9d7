"""A run that the service answers from, until another takes its place and the last who asks it has been answered."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from statgraph.memory import give_back
from statgraph.search.batching import QuestionBatcher
from statgraph.service.loaded_run import LoadedRun

# How long the warm-up thread keeps the interpreter from the others. The default is 5 ms, and a search switches threads
# dozens of times.
_TURN_S = 0.0005


class OpenRun:
    """A run in memory with the queue of its questions; used from one thread, that of the event loop.

    Args:
        loaded_run: the run.
        most_waiting: how many questions may wait for their search.
        on_batch: is told how many questions are searched together.

    Attributes:
        loaded_run: the run.
        questions: their queue.
    """

    def __init__(self, loaded_run: LoadedRun, *, most_waiting: int, on_batch: Callable[[int], None]):
        self.loaded_run = loaded_run
        self.questions = QuestionBatcher(loaded_run, max_waiting=most_waiting, on_batch=on_batch)
        self._users = 0
        self._retired = False
        self._stopped = threading.Event()
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    @contextmanager
    def in_use(self) -> Iterator[OpenRun]:
        """Yield the run, which stays open until the block ends."""
        self._users += 1
        try:
            yield self
        finally:
            self._users -= 1
            self._close_if_unused()

    def retire(self) -> None:
        """Close the run once nobody uses it, without waiting for that."""
        self._retired = True
        self._close_if_unused()

    def close(self) -> None:
        """End the warm-up, and return once the searches in progress are answered."""
        self._stopped.set()
        self.loaded_run.surroundings.references.stop()
        self.questions.close()

    def _close_if_unused(self) -> None:
        if self._retired and not self._users:
            # Not on this thread: a search that was given up may still go on.
            threading.Thread(target=_closed_and_freed, args=[[self]], name="closing", daemon=True).start()

    def _warm_up(self) -> None:
        turn_s = sys.getswitchinterval()
        sys.setswitchinterval(_TURN_S)
        try:
            self.loaded_run.warm_up(self._stopped.is_set)
        finally:
            sys.setswitchinterval(turn_s)


def _closed_and_freed(held: list[OpenRun]) -> None:
    """Close a run, the only one in a list, and give its memory back to the system."""
    held.pop().close()
    gc.collect()
    give_back()
