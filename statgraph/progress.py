"""How far a long step is: one record and one callback for everything that takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from statgraph.errors import Text


@dataclass(frozen=True)
class Step:
    """How far a step is: its name, and how much of it is done of how much in all."""

    name: str
    done: int
    total: int

    @property
    def detail(self) -> str:
        """Return what there is to say beside the share that is done; blank for nothing."""
        return ""


@dataclass(frozen=True)
class TrainingStep(Step):
    """A step of the optimiser; `done` and `total` count those of the stage.

    Attributes:
        epoch: the current epoch, from 1.
        epochs: how many there are.
        loss: of this step.
        dev: the last mean of `metric` on dev, from 0 to 1; None before the first.
        metric: the metric that chooses the best epoch.
    """

    epoch: int
    epochs: int
    loss: float
    dev: float | None = None
    metric: str = ""

    @property
    def detail(self) -> str:
        """Return epoch, loss and dev metric."""
        dev = "" if self.dev is None else f"  dev {self.metric} {100 * self.dev:.1f}"
        return f"epoch {self.epoch}/{self.epochs}  loss {self.loss:.3f}{dev}"


Progress = Callable[[Step], None]


def silent(step: Step) -> None:
    """Report nothing."""


def counted(progress: Progress, name: str) -> Callable[[int, int], None]:
    """Return a function of (done, total) that reports a step of this name."""
    return lambda done, total: progress(Step(name, done, total))


@contextmanager
def resumable(how: str, applies: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Note on the Ctrl-C that interrupts the block how to resume it, if there is something to resume."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if applies():
            interrupt.add_note(Text(f"To resume, run the same command {how}"))
        raise
