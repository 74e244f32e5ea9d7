"""What a search for settings leaves: its trials, the best settings, and the history as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.evaluation.plots import Labels, line_chart

TRIALS = "trials.json"
BEST = "best.yaml"
HISTORY = "history.png"

FINISHED, PRUNED, FAILED = "finished", "pruned", "failed"


@dataclass(frozen=True)
class TrialRecord:
    """One trial that has ended. `value` is the dev metric of a finished one; `epoch_values` are those that training
    reported on the way; `settings` is what the search chose; `error` says why it failed."""

    number: int
    state: str
    value: float | None
    settings: Mapping[str, str]
    epoch_values: tuple[float, ...]
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class Tuning:
    """All trials of a study, the settings that were fixed, but for seed and device, and the metric that decides."""

    folder: Path
    trials: tuple[TrialRecord, ...]
    fixed: tuple[str, ...]
    metric: str

    @property
    def ranked(self) -> tuple[TrialRecord, ...]:
        """Return the finished trials, best first, equal ones by number."""
        finished = (trial for trial in self.trials if trial.value is not None)
        return tuple(sorted(finished, key=lambda trial: (-trial.value, trial.number)))

    @property
    def best_settings(self) -> tuple[str, ...]:
        """Return the fixed settings and those of the best trial, each as `a.b=c`."""
        return (*self.fixed, *(f"{name}={value}" for name, value in self.ranked[0].settings.items()))


def write_tuning(tuning: Tuning) -> None:
    """Write trials, best settings and history into the study's folder.

    Raises:
        RunError: if no trial finished.
    """
    import yaml

    artifacts.write_json(tuning.folder / TRIALS, {"trials": [asdict(trial) for trial in tuning.trials]})
    if not tuning.ranked:
        raise RunError(
            f"{tuning.folder}: none of {len(tuning.trials)} trials finished (the last: {tuning.trials[-1].error}); "
            "narrow the --space, or choose other settings with --set"
        )
    best = yaml.safe_dump(_nested(tuning.best_settings), sort_keys=False, allow_unicode=True)
    artifacts.write_text(tuning.folder / BEST, best)
    finished = sorted(tuning.ranked, key=lambda trial: trial.number)
    numbers = [trial.number for trial in finished]
    values = [100 * trial.value for trial in finished]
    best_so_far = [max(values[: place + 1]) for place in range(len(values))]
    line_chart(
        {"best so far": (numbers, best_so_far), "trial": (numbers, values)},
        tuning.folder / HISTORY,
        Labels(f"{len(finished)} finished of {len(tuning.trials)} trials", "trial", f"dev {tuning.metric}, %"),
        points_only=("trial",),
    )


def _nested(settings: Sequence[str]) -> dict[str, object]:
    """Return `a.b=c` settings as the groups of a system's YAML file; a later one replaces an earlier."""
    nested: dict[str, object] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        *groups, last = name.strip().split(".")
        place = nested
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = _number_or_text(value.strip())
    return nested


def _number_or_text(value: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value
