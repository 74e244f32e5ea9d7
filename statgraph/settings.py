"""Settings: their limits and help, overlays from YAML files or `a.b=c` on the command line, and how two configurations
differ.

A setting is a field of a frozen dataclass. `setting` writes its default, its limits and its help, once;
`check_settings` reads them wherever values arrive: after the overlays, and in the constructors that use the values.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_origin, get_type_hints

from statgraph.errors import UsageError, option
from statgraph.registry import Registry

_MUCH_ALIKE = 0.6  # of difflib's ratio, 0 to 1
_MOST_LISTED = 5
_LIMITS, _HELP = "limits", "help"
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_NAMES = "names separated by commas, or none"
Config = TypeVar("Config")
Settings = Mapping[str, object] | Iterable[str]  # by dotted name, or as texts `a.b=c`


@dataclass(frozen=True)
class Limits:
    """What a setting can be, beyond its type.

    `at_least`, `above`, `at_most`, `below` bound a number; `special` numbers are allowed besides, each with what it
    means. `choices` are the names that a text, or each item of a list, can be; a `distinct` list names at least one,
    each once. `pattern` is a regular expression that a text matches as a whole, `words` the same in words.
    """

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    special: Mapping[float, str] | None = None
    choices: Iterable[str] | Registry = ()
    distinct: bool = False
    pattern: str = ""
    words: str = ""

    def problem(self, value: object) -> str | None:
        """Return what is wrong with a value, as it follows the setting's name; None where nothing is."""
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            return None if self._holds(value) else f"must be {self._range_in_words()} (got {value})"
        names = value if isinstance(value, tuple) else (str(value),)
        unknown = [name for name in names if self.choices and name not in self.choices]
        unfit = [name for name in names if self.pattern and not re.fullmatch(self.pattern, name)]
        if unknown or (self.distinct and not names):
            return f"must be {self._known(type(value))} (got {repr(unknown[0]) if unknown else 'none'})"
        if unfit:
            return f"{'each ' if isinstance(value, tuple) else ''}must be {self.words} (got '{unfit[0]}')"
        twice = [name for name in names if self.distinct and names.count(name) > 1]
        return f"must name each once (got '{twice[0]}' twice)" if twice else None

    def in_words(self, wanted: type) -> str:
        """Return what a value of a type must be."""
        if wanted in (int, float) and any(limit is not None for limit in (self.at_least, self.above, self.at_most)):
            return f"{_KINDS[wanted]} {self._range_in_words()}"
        if self.choices:
            return self._known(wanted)
        if self.pattern:
            return self.words if wanted is str else f"{_NAMES}; each {self.words}"
        return _KINDS.get(wanted, _NAMES)

    def _known(self, wanted: type) -> str:
        listed = self.choices.listed() if isinstance(self.choices, Registry) else ", ".join(self.choices)
        return f"{'one' if wanted is str else 'at least one' if self.distinct else 'none or some'} of {listed}"

    def _holds(self, value: float) -> bool:
        if self.special and value in self.special:
            return True
        return (
            math.isfinite(value)
            and (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )

    def _range_in_words(self) -> str:
        low = self.at_least if self.above is None else self.above
        high = self.at_most if self.below is None else self.below
        if low is None and high is None:
            words = "a finite number"
        elif high is None:
            words = f"at least {low:g}" if self.above is None else f"greater than {low:g}"
        else:
            words = f"in {'[' if self.above is None else '('}{low:g}, {high:g}{']' if self.below is None else ')'}"
        return words + "".join(f", or {value:g} for {meaning}" for value, meaning in (self.special or {}).items())


def setting(default: Any, *, help: str = "", **limits: Any) -> Any:
    """Return a dataclass field with a default, its `Limits`, and its help: a sentence that messages and docs show."""
    return field(default=default, metadata={_LIMITS: Limits(**limits), _HELP: help})


def limits_of(config_type: type, name: str) -> Limits:
    """Return the limits of a setting; those of a field that states none hold every finite value."""
    limits: Limits = _fields(config_type)[name].metadata.get(_LIMITS, Limits())
    return limits


def help_of(config_type: type, name: str) -> str:
    """Return the help of a setting; of a group the first line of its docstring."""
    item = _fields(config_type)[name]
    if is_dataclass(item.default_factory):
        return (item.default_factory.__doc__ or "").partition("\n")[0]
    return str(item.metadata.get(_HELP, ""))


@cache
def _fields(config_type: Any) -> dict[str, Field[Any]]:
    return {item.name: item for item in fields(config_type)}


class Described(NamedTuple):
    """A setting in words: its dotted name, its default as `--set` takes it, what it can be, and its help. A group has
    neither default nor limits."""

    name: str
    default: str
    limits: str
    help: str


def described(config_type: type, prefix: str = "") -> Iterator[Described]:
    """Yield every setting of a configuration in the order of its fields, each group before its own."""
    config, types = config_type(), _field_types(config_type)
    for item in fields(config):
        value, name = getattr(config, item.name), f"{prefix}{item.name}"
        about = help_of(config_type, item.name)
        if is_dataclass(value):
            yield Described(name, "", "", about)
            yield from described(type(value), f"{name}.")
        else:
            limits = limits_of(config_type, item.name).in_words(types[item.name])
            yield Described(name, _as_text(value), limits, about)


def _as_text(value: object) -> str:
    """Return a value as `--set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return (",".join(value) or "none") if isinstance(value, tuple) else str(value)


def check_setting(config_type: type, name: str, value: object, *, place: str) -> None:
    """Raise UsageError if a value is outside the limits of a setting; `place` names it for the message."""
    problem = limits_of(config_type, name).problem(value)
    if problem:
        raise UsageError(with_help(f"{place}: {problem}", config_type, name))


def with_help(problem: str, config_type: type, name: str) -> str:
    """Return what is wrong with a setting, followed by its help."""
    about = help_of(config_type, name)
    return f"{problem}{'' if problem.endswith('?') else '.'} {about}" if about else problem


def check_settings(config: Any, group: str = "") -> None:
    """Raise UsageError for the first value of a configuration that is outside its limits.

    Args:
        config: a frozen dataclass, with others inside as groups.
        group: the dotted name under which its settings are known, blank for a whole configuration.
    """
    for item in fields(config):
        value, name = getattr(config, item.name), f"{group}.{item.name}" if group else item.name
        if is_dataclass(value):
            check_settings(value, name)
        else:
            check_setting(type(config), item.name, value, place=name)


def overlaid(
    config: Config, overlay: Mapping[str, object], *, place: str, group: str = "", whole: type | None = None
) -> Config:
    """Return the configuration with the nested values of an overlay in place of its own.

    Args:
        config: a frozen dataclass, `RunConfig` or another.
        place: where the overlay comes from, for messages.
        group: the dotted name of `config` with a "." in a `whole` configuration that it is a group of.

    Raises:
        UsageError: for an unknown key (the nearest known one is named) or a value of the wrong type.
    """
    kind: Any = type(config)
    changed: dict[str, object] = {}
    for key, value in overlay.items():
        name = f"{group}{key}"
        current: Any = getattr(config, str(key), None)
        if key not in _fields(kind):
            about = {row.name: row.help for row in described(whole or kind)}
            nearest = _nearest_setting(name, about)
            raise UsageError(f"{place}: '{name}' is not a setting; did you mean '{nearest}'? {about[nearest]}".rstrip())
        if is_dataclass(current):
            if not isinstance(value, Mapping):
                inner = ", ".join(f"{name}.{item.name}" for item in fields(current))
                raise UsageError(f"{place}: '{name}' is a group of settings; set one of {inner}")
            changed[key] = overlaid(current, value, place=place, group=f"{name}.", whole=whole or kind)
        else:
            try:
                changed[key] = _converted(value, _field_types(kind)[key])
            except ValueError as error:
                raise UsageError(with_help(f"{place}: '{name}' {error}", kind, key)) from None
    updated: Config = replace(config, **changed)  # type: ignore[type-var]
    return updated


def _nearest_setting(name: str, known: Mapping[str, str]) -> str:
    """Return the known setting most like a name: one of the same group that is much alike, else one of the same last
    part elsewhere, else the most alike."""

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(None, name.removeprefix(f"{group}."), other.removeprefix(f"{group}.")).ratio()

    group, _, last = name.rpartition(".")
    siblings = [other for other in known if other.rpartition(".")[0] == group]
    namesakes = [other for other in known if other.rpartition(".")[2] == last]
    alike = [other for other in siblings if likeness(other) >= _MUCH_ALIKE]
    return max(alike or namesakes or (group and siblings) or known, key=likeness)


def assignments(settings: Settings) -> tuple[str, ...]:
    """Return settings as texts `a.b=c`.

    Raises:
        UsageError: if they are neither a mapping nor a list.
    """
    if isinstance(settings, Mapping):
        return tuple(
            f"{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}"
            for name, value in settings.items()
        )
    if isinstance(settings, str) or not isinstance(settings, Iterable):
        raise UsageError(
            f"settings: must be a mapping, or a list of texts such as 'stage1.epochs=3' (got {settings!r})"
        )
    return tuple(map(str, settings))


def with_settings(config: Config, settings: Iterable[str], *, place: str = option("set")) -> Config:
    """Return the configuration with `a.b=c` settings applied in order; `place` is where they come from, for messages.

    Raises:
        UsageError: for a setting without "=", an unknown key or a value of the wrong type.
    """
    for setting in settings:
        key, separator, text = setting.partition("=")
        if not separator:
            raise UsageError(f"{place} '{setting}': no '='; write it like {place} stage1.epochs=10")
        *groups, name = key.strip().split(".")
        overlay: dict[str, object] = {name: text.strip()}
        for group in reversed(groups):
            overlay = {group: overlay}
        config = overlaid(config, overlay, place=place)
    return config


def changed_settings(
    then: Mapping[str, object], now: Mapping[str, object], *, which: Callable[[str], bool] = lambda name: True
) -> str:
    """Return in words where two configurations, as JSON holds them, differ: five settings at most; blank where they are
    equal. `which` says of a setting's name whether its change counts."""
    changed = [f"{name}: {old} then, {new} now" for name, old, new in _changes(then, now) if which(name)]
    left = len(changed) - _MOST_LISTED
    return "; ".join(changed[:_MOST_LISTED]) + (f"; and {left} more" if left > 0 else "")


def _changes(then: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object, object]]:
    for key in sorted(then.keys() | now.keys()):
        old, new = then.get(key), now.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changes(old, new, f"{prefix}{key}.")
        elif old != new:
            yield f"{prefix}{key}", old, new


@cache  # evaluated again for each, they are half of what an overlay costs
def _field_types(config_type: Any) -> dict[str, Any]:
    return get_type_hints(config_type)


def _converted(value: object, wanted: type) -> object:
    """Return a value as the field's type; text is parsed, so that the command line and YAML end alike.

    Raises:
        ValueError: if it cannot be; the text follows the setting's name.
    """
    if isinstance(value, Mapping):
        raise ValueError("is a single setting, not a group")
    text = str(value).strip()
    if get_origin(wanted) is tuple and value is not None:
        parts = value if isinstance(value, list | tuple) else [part.strip() for part in text.split(",")]
        return tuple(str(part) for part in parts if str(part) not in ("", "none"))
    try:
        converted = {"true": True, "false": False}[text.lower()] if wanted is bool else wanted(text)
        if value is None or isinstance(value, list | tuple) or (wanted is float and not math.isfinite(converted)):
            raise ValueError
        return converted
    except (KeyError, ValueError):
        raise ValueError(f"must be {_KINDS.get(wanted, _NAMES)} (got '{text}')") from None
