"""Progress bars on standard error for the long commands; none where it is not a terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager

from statgraph.training.loop import TrainingProgress


class TerminalProgress(AbstractContextManager):
    """One bar for what is being embedded and one for each stage, with loss and dev recall."""

    def __init__(self, *, shown: bool = True):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}"),
        )
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, disable=not (shown and console.is_terminal))
        self._tasks: dict[str, int] = {}

    def __enter__(self) -> TerminalProgress:
        self._progress.start()
        return self

    def __exit__(self, *error) -> None:
        self._progress.stop()

    def on_step(self, what: str, done: int, total: int) -> None:
        """Show how far a step has come."""
        self._progress.update(self._task(what, total), completed=done)

    def on_training(self, progress: TrainingProgress) -> None:
        """Show a stage's step, loss and last dev R@200."""
        dev = "" if progress.dev is None else f"  dev R@200 {100 * progress.dev:.1f}"
        detail = f"epoch {progress.epoch}/{progress.epochs}  loss {progress.loss:.3f}{dev}"
        self._progress.update(self._task(progress.stage, progress.steps), completed=progress.step, detail=detail)

    def _task(self, what: str, total: int) -> int:
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total, detail="")
        return self._tasks[what]
