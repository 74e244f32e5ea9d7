"""Search spaces: which settings `statgraph tune` varies, and how far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from statgraph.config import RunConfig
from statgraph.errors import UsageError, marked, option
from statgraph.runs.kind import kind_of
from statgraph.settings import with_settings

_PRESETS = Path(__file__).parent / "spaces.yaml"
_RANGE_KEYS, _CHOICE_KEYS = {"low", "high", "log"}, {"choices"}
_SIGNIFICANT_DIGITS = 3

# What each setting may be; choices are texts that `--set` takes.
SearchSpace = Mapping[str, FloatDistribution | IntDistribution | CategoricalDistribution]


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
    return {str(name): _distribution(path, str(name), given, config) for name, given in space.items()}


def as_settings(drawn: Mapping[str, object], space: SearchSpace) -> dict[str, str]:
    """Return the values that a trial has drawn as `--set` takes them, numbers to three significant digits."""
    settings = {}
    for name, values in space.items():
        settings[name] = str(drawn[name])
        if isinstance(values, FloatDistribution):
            rounded = f"{drawn[name]:.{_SIGNIFICANT_DIGITS}g}"
            # Rounding must not lead out of the range, whose ends may have more digits.
            if values.low <= float(rounded) <= values.high:
                settings[name] = rounded
    return settings


def without_fixed(space: SearchSpace, settings: Iterable[str]) -> SearchSpace:
    """Return the space without what `a.b=c` settings fix.

    Raises:
        UsageError: if nothing is left.
    """
    fixed = {setting.partition("=")[0].strip() for setting in settings}
    left = {name: values for name, values in space.items() if name not in fixed}
    if not left:
        raise UsageError(
            f"nothing to search: no setting is left open; give a {option('space')}, or fix fewer with {option('set')}"
        )
    return left


def current_values(space: SearchSpace, config: RunConfig) -> dict[str, object]:
    """Return the configuration's own values of what is searched, as far as the space contains them."""
    values: dict[str, object] = {}
    for name, allowed in space.items():
        value = attrgetter(name)(config)
        if isinstance(allowed, CategoricalDistribution):
            if str(value) in allowed.choices:
                values[name] = str(value)
        elif allowed.low <= value <= allowed.high:
            values[name] = value
    return values


def _is_idle(name: str, config: RunConfig) -> bool:
    """Return whether a setting changes nothing in a system, since it leaves out what the setting is about."""
    group, one, two = name.partition(".")[0], config.stage1.epochs, config.stage2.epochs
    if name.startswith("stage2.encoder_"):
        return not two or config.stage2.train_encoders == "none"
    uses = {"stage1": one, "gnn": two, "graph": two, "stage2": two, "encoder": one or two}
    return not uses.get(group, True)


def _distribution(
    path: Path, name: str, given: Any, config: RunConfig
) -> FloatDistribution | IntDistribution | CategoricalDistribution:
    place = f"{path}: '{name}'"
    keys = set(given) if isinstance(given, dict) else set()
    are_choices = keys == _CHOICE_KEYS and isinstance(given["choices"], list)
    if not are_choices and not {"low", "high"} <= keys <= _RANGE_KEYS:
        raise UsageError(f"{place}: is '{given}'; give {{low, high}}, {{low, high, log}} or {{choices}} as a list")
    values = given["choices"] if are_choices else (given["low"], given["high"])
    # As `--set` takes them.
    values = [",".join(map(str, value)) if isinstance(value, list) else str(value) for value in values]
    for value in values:  # refuses an unknown setting too
        changed = with_settings(config, [f"{name}={value}"], place=str(path))
        try:
            changed.check()
        except UsageError as error:
            raise UsageError(f"{path}: {marked(error)}") from None
    kind = type(attrgetter(name)(config))
    if not are_choices and kind not in (int, float):
        raise UsageError(f"{place}: is not a number; give {{choices}} for it")
    try:
        if are_choices:
            return CategoricalDistribution(values)
        range_of = IntDistribution if kind is int else FloatDistribution
        return range_of(*map(kind, values), log=bool(given.get("log")))
    except ValueError as error:
        raise UsageError(f"{place}: {error}") from None
