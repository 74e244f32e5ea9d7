"""The request for a training: a system by name with settings, or another run to follow or to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.runs.run import Run
from statgraph.systems.presets import DEFAULT_SYSTEM, resolve_config, without_transformers

STUDENT = "student"


@dataclass(frozen=True)
class TrainingRequest:
    """What to train: its configuration, the run whose choices a final run takes, and the teacher of a student."""

    config: RunConfig
    final: Run | None = None
    teacher: Run | None = None


def training_request(
    system: str | None = None,
    settings: Sequence[str] = (),
    *,
    seed: int | None = None,
    device: str = "auto",
    fast: bool = False,
    final: Path | None = None,
    teacher: Path | None = None,
) -> TrainingRequest:
    """Return what to train; None, false and empty are what the user has left open.

    Args:
        system: its name; the default is the ensemble.
        settings: `a.b=c` in place of its own.
        seed: of every random choice.
        device: to train on.
        fast: leave transformers out of an ensemble.
        final: a run to be trained again on all questions, as it was.
        teacher: an ensemble to be distilled into a student.

    Raises:
        UsageError: for options that exclude each other, or runs that cannot be followed or learnt from; else as in
            `resolve_config`.
        RunError: if `final` or `teacher` is not a finished run.
    """
    if teacher is not None:
        excluded = {"--system": system not in (None, STUDENT), "--fast": fast, "--final": final is not None}
        _refuse(excluded, "cannot be given with --teacher, which trains a student; omit one of them")
        chosen = (f"seed={seed or 0}", f"device={device}", *settings)
        return TrainingRequest(resolve_config(STUDENT, chosen), teacher=_teacher(teacher))
    if final is not None:
        excluded = {"--system": system is not None, "--fast": fast, "--seed": seed is not None, "--set": bool(settings)}
        _refuse(excluded, f"a final run is trained as {final} was; omit it, or train another run first")
        followed = _followed(final)
        return TrainingRequest(replace(followed.config, device=device), final=followed)
    system = system or DEFAULT_SYSTEM
    chosen = (f"seed={seed or 0}", f"device={device}", *settings)
    if fast:
        chosen = (*chosen, without_transformers(system, chosen))
    return TrainingRequest(resolve_config(system, chosen))


def _refuse(given: Mapping[str, bool], why: str) -> None:
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option}: {why}")


def _teacher(folder: Path) -> Run:
    teacher = Run.read(folder)
    if not teacher.kind.has_members:
        raise UsageError(f"--teacher: {teacher.folder} is no ensemble; name one")
    if teacher.final:
        raise UsageError(
            f"--teacher: {teacher.folder} was trained on the dev questions too, so that none could choose the "
            f"student's epoch; name {teacher.final}"
        )
    return teacher


def _followed(folder: Path) -> Run:
    run = Run.read(folder)
    if run.final:
        raise UsageError(f"--final: {folder} is a final run itself; name {run.final}, which it went by")
    run.check_layer()
    return run
