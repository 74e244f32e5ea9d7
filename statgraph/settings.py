"""Values laid over a configuration, those of a YAML file or `a.b=c` from the command line; what two differ in."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, get_origin, get_type_hints

from statgraph.errors import UsageError

_MUCH_ALIKE = 0.6  # of difflib's ratio, 0 to 1
_MOST_LISTED = 5
Config = TypeVar("Config")


def overlaid(config: Config, overlay: Mapping[str, object], *, place: str) -> Config:
    """Return the configuration with the nested values of an overlay in place of its own.

    Args:
        config: a frozen dataclass, `RunConfig` or another.
        place: where the overlay comes from, for messages.

    Raises:
        UsageError: for an unknown key (the nearest known one is named) or a value of the wrong type.
    """
    return _overlaid(config, overlay, place=place, prefix="", known_names=_setting_names(config))


def _setting_names(config, prefix: str = "") -> list[str]:
    """Return the dotted names of all settings and groups."""
    names = []
    for item in fields(config):
        names.append(f"{prefix}{item.name}")
        if is_dataclass(getattr(config, item.name)):
            names += _setting_names(getattr(config, item.name), f"{prefix}{item.name}.")
    return names


def _nearest_setting(name: str, known: list[str]) -> str:
    """Return the known setting most like a name: one of the same group that is much alike, else one of the same last
    part elsewhere, else the most alike."""

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(None, name.removeprefix(f"{group}."), other.removeprefix(f"{group}.")).ratio()

    group, _, last = name.rpartition(".")
    siblings = [other for other in known if other.rpartition(".")[0] == group]
    namesakes = [other for other in known if other.rpartition(".")[2] == last]
    alike = [other for other in siblings if likeness(other) >= _MUCH_ALIKE]
    return max(alike or namesakes or (group and siblings) or known, key=likeness)


def with_settings(config: Config, settings: Iterable[str]) -> Config:
    """Return the configuration with `a.b=c` settings applied in order.

    Raises:
        UsageError: for a setting without "=", an unknown key or a value of the wrong type.
    """
    for setting in settings:
        key, separator, text = setting.partition("=")
        if not separator:
            raise UsageError(f"--set '{setting}': no '='; write it like --set stage1.epochs=10")
        overlay: object = text.strip()
        for part in reversed(key.strip().split(".")):
            overlay = {part: overlay}
        config = overlaid(config, overlay, place="--set")
    return config


def changed_settings(then: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Return in words where two configurations, as JSON holds them, differ: five settings at most; blank where they are
    equal."""
    changed = list(_changes(then, now))
    left = len(changed) - _MOST_LISTED
    return "; ".join(changed[:_MOST_LISTED]) + (f"; and {left} more" if left > 0 else "")


def _changes(then: Mapping[str, object], now: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    for key in sorted(then.keys() | now.keys()):
        old, new = then.get(key), now.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changes(old, new, f"{prefix}{key}.")
        elif old != new:
            yield f"{prefix}{key}: {old} then, {new} now"


def _overlaid(config, overlay: Mapping[str, object], *, place: str, prefix: str, known_names: list[str]):
    known = [item.name for item in fields(config)]
    types = get_type_hints(type(config))
    changed = {}
    for key, value in overlay.items():
        name = f"{prefix}{key}"
        if key not in known:
            nearest = _nearest_setting(name, known_names)
            raise UsageError(f"{place}: '{name}' is not a setting; did you mean '{nearest}'?")
        current = getattr(config, key)
        if is_dataclass(current):
            if not isinstance(value, Mapping):
                inner = ", ".join(f"{name}.{item.name}" for item in fields(current))
                raise UsageError(f"{place}: '{name}' is a group of settings; set one of {inner}")
            changed[key] = _overlaid(current, value, place=place, prefix=f"{name}.", known_names=known_names)
        else:
            changed[key] = _converted(value, types[key], place=place, name=name)
    return replace(config, **changed)


def _converted(value: object, wanted: type, *, place: str, name: str):
    """Return a value as the field's type; text is parsed, so that the command line and YAML end alike."""
    if isinstance(value, Mapping):
        raise UsageError(f"{place}: '{name}' is one setting, not a group; give it a value")
    if value is None or (isinstance(value, list | tuple) and get_origin(wanted) is not tuple):
        raise UsageError(f"{place}: '{name}' is '{value}'; give {_kind(wanted)}")
    text = str(value).strip()
    try:
        if wanted is bool:
            return {"true": True, "false": False}[text.lower()]
        if wanted is int:
            return int(text)
        if wanted is float:
            return _finite(text)
    except (KeyError, ValueError):
        raise UsageError(f"{place}: '{name}' is '{text}'; give {_kind(wanted)}") from None
    if wanted is str:
        return text
    parts = value if isinstance(value, list | tuple) else [part.strip() for part in text.split(",")]
    return tuple(str(part) for part in parts if str(part) not in ("", "none"))


def _kind(wanted: type) -> str:
    """Return what to give for a field's type, in words."""
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return kinds.get(wanted, "names separated by commas, or none")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number
