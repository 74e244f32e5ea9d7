"""Search spaces: which settings `statgraph tune` varies, and how far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.runs.kind import kind_of
from statgraph.settings import overlaid

_PRESETS = Path(__file__).parent / "spaces.yaml"
_RANGE_KEYS, _CHOICE_KEYS = {"low", "high", "log"}, {"choices"}
_SIGNIFICANT_DIGITS = 3


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included; `log` searches by ratios; `whole` allows whole numbers only."""

    low: float
    high: float
    log: bool
    whole: bool

    def suggested(self, trial, name: str) -> str:
        """Return the value that an Optuna trial draws, as text of three significant digits."""
        if self.whole:
            return str(trial.suggest_int(name, int(self.low), int(self.high), log=self.log))
        value = trial.suggest_float(name, self.low, self.high, log=self.log)
        rounded = f"{value:.{_SIGNIFICANT_DIGITS}g}"
        # Rounding must not lead out of the range, whose ends may have more digits.
        return rounded if self.low <= float(rounded) <= self.high else repr(value)

    def standing(self, value: float) -> float | None:
        """Return a configuration's value as a trial's, None where it is out of the range."""
        return value if self.low <= value <= self.high else None

    def as_json(self) -> dict[str, object]:
        """Return JSON values."""
        return {"low": self.low, "high": self.high, "log": self.log}


@dataclass(frozen=True)
class Choice:
    """One of some values, each as text that `--set` takes."""

    values: tuple[str, ...]

    def suggested(self, trial, name: str) -> str:
        """Return the value that an Optuna trial draws."""
        return trial.suggest_categorical(name, self.values)

    def standing(self, value: object) -> str | None:
        """Return a configuration's value as a trial's, None where it is no choice."""
        return str(value) if str(value) in self.values else None

    def as_json(self) -> dict[str, object]:
        """Return JSON values."""
        return {"choices": list(self.values)}


SearchSpace = Mapping[str, Range | Choice]


def preset_space(config: RunConfig) -> SearchSpace:
    """Return the search space of a system's regime of training, less what the system has no use for.

    Raises:
        UsageError: if the system is an ensemble.
    """
    space = read_space(_PRESETS, config, part=kind_of(config).tuning_space(config))
    return {name: values for name, values in space.items() if not _is_idle(name, config)}


def read_space(path: Path, config: RunConfig, *, part: str | None = None) -> SearchSpace:
    """Return the search space in a YAML file: a mapping from a setting to {low, high, log} or {choices}.

    Args:
        config: what the settings are laid over; every end and choice must fit it.
        part: the key of the file that holds the space; None for the whole file.

    Raises:
        UsageError: if the file is missing or no such mapping, or a setting is unknown or cannot have one of its values.
    """
    import yaml

    try:
        space = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; name a YAML file of settings") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path}: not readable as YAML ({reason}); correct it") from None
    if part is not None:
        space = space[part]
    if not isinstance(space, dict) or not space:
        raise UsageError(f"{path}: holds no settings; write lines like 'stage1.lr: {{low: 1.0e-5, high: 1.0e-3}}'")
    return {str(name): _values(path, str(name), given, config) for name, given in space.items()}


def without_fixed(space: SearchSpace, settings: Iterable[str]) -> SearchSpace:
    """Return the space without what `a.b=c` settings fix.

    Raises:
        UsageError: if nothing is left.
    """
    fixed = {setting.partition("=")[0].strip() for setting in settings}
    left = {name: values for name, values in space.items() if name not in fixed}
    if not left:
        raise UsageError("nothing to search: no setting is left open; give a --space, or fix fewer with --set")
    return left


def standing_values(space: SearchSpace, config: RunConfig) -> dict[str, object]:
    """Return the configuration's own values of what is searched, as far as the space holds them."""
    standing = {name: values.standing(_current(config, name)) for name, values in space.items()}
    return {name: value for name, value in standing.items() if value is not None}


def space_as_json(space: SearchSpace) -> dict[str, object]:
    """Return a space as JSON values."""
    return {name: values.as_json() for name, values in space.items()}


def _is_idle(name: str, config: RunConfig) -> bool:
    """Return whether a setting changes nothing in a system, since it leaves out what the setting is about."""
    group = name.partition(".")[0]
    if group == "stage1":
        return not config.stage1.epochs
    if name.startswith("stage2.encoder_"):
        return not config.stage2.epochs or config.stage2.train_encoders == "none"
    if group in ("gnn", "graph", "stage2"):
        return not config.stage2.epochs
    if group == "encoder":
        return not config.stage1.epochs and not config.stage2.epochs
    return False


def _values(path: Path, name: str, given: object, config: RunConfig) -> Range | Choice:
    place = f"{path}: '{name}'"
    keys = set(given) if isinstance(given, dict) else set()
    if keys == _CHOICE_KEYS:
        choices = given["choices"]
        if not isinstance(choices, list) or not choices:
            raise UsageError(f"{place}: choices is '{choices}'; give a list of values")
        values = Choice(tuple(_text(choice) for choice in choices))
        if len(set(values.values)) < len(choices):
            raise UsageError(f"{place}: lists a choice twice; give each once")
        for value in values.values:
            _check_setting(path, name, value, config)
        return values
    if not {"low", "high"} <= keys <= _RANGE_KEYS:
        raise UsageError(f"{place}: is '{given}'; give {{low, high}}, {{low, high, log}} or {{choices}}")
    # An unknown setting is refused here, before its type is needed.
    _check_setting(path, name, _text(given["low"]), config)
    _check_setting(path, name, _text(given["high"]), config)
    kind = type(_current(config, name))
    if kind not in (int, float):
        raise UsageError(f"{place}: is not a number; give {{choices}} for it")
    low, high, log = float(given["low"]), float(given["high"]), given.get("log", False)
    if not isinstance(log, bool):
        raise UsageError(f"{place}: log is '{log}'; give true or false")
    if not low < high:
        raise UsageError(f"{place}: low is {low:g} and high is {high:g}; give a low below the high")
    if log and (low <= 0 or not math.isfinite(math.log(high / low))):
        raise UsageError(f"{place}: low is {low:g}; a range by ratios (log) starts above 0")
    return Range(low, high, log, whole=kind is int)


def _check_setting(path: Path, name: str, value: str, config: RunConfig) -> None:
    overlay: object = value
    for part in reversed(name.split(".")):
        overlay = {part: overlay}
    changed = overlaid(config, overlay, place=str(path))
    try:
        changed.check()
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _current(config: RunConfig, name: str) -> object:
    for part in name.split("."):
        config = getattr(config, part)
    return config


def _text(value: object) -> str:
    """Return a YAML value as `--set` takes it."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
