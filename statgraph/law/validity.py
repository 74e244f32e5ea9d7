"""When an article is in force: the days from `metadata.valid_from` up to, and without, `metadata.valid_to`.

Both are ISO dates. Without the first, an article has always been in force; without the second, it still is. Versions of
one article are separate articles of a corpus, with separate ids. A table can name the last day in force instead,
`valid_until`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from statgraph.errors import UsageError

VALID_FROM, VALID_TO = "valid_from", "valid_to"
LAST_DAY = "valid_until"
TODAY, ALWAYS = "today", "always"
SINCE_EVER, FOR_EVER = 0, 2**31 - 1  # days as `date.toordinal` counts them, from 1
_OPEN = {VALID_FROM: SINCE_EVER, VALID_TO: FOR_EVER}  # the days of articles without one
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MIDNIGHT = re.compile(rf"({_ISO_DATE.pattern})[T ]00:00(?::00(?:\.0+)?)?Z?")


def days_in_force(metadata: Mapping[str, object]) -> tuple[int, int]:
    """Return (first day in force, first day after), as ordinals.

    Raises:
        ValueError: if a date is invalid; `validity_problem` describes it.
    """
    return _day(metadata, VALID_FROM), _day(metadata, VALID_TO)


def with_plain_dates(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return the metadata of an article with its dates as `days_in_force` reads them: without a time at midnight, and
    the day after the last day in force.

    Raises:
        ValueError: with what is wrong with the last day, to follow the article's name.
    """
    given = {key: value for key in (VALID_FROM, VALID_TO, LAST_DAY) if (value := metadata.get(key)) not in (None, "")}
    dates = {
        key: match[1] if isinstance(value, str) and (match := _MIDNIGHT.fullmatch(value.strip())) else value
        for key, value in given.items()
    }
    if LAST_DAY in dates:
        if VALID_TO in dates:
            raise ValueError(f"has both {VALID_TO} and {LAST_DAY}; keep one")
        last_day = dates.pop(LAST_DAY)
        try:
            last = _ordinal(last_day)
        except ValueError:
            raise ValueError(f"has an invalid {LAST_DAY} {last_day!r}; write it like 2026-01-31") from None
        if last < date.max.toordinal():  # 9999-12-31 stands for no end
            dates[VALID_TO] = date.fromordinal(last + 1).isoformat()
    if dates == given:
        return metadata
    return {key: value for key, value in metadata.items() if key not in given} | dates


def validity_problem(metadata: Mapping[str, object]) -> str | None:
    """Return what is wrong with an article's dates, to follow its name; None if nothing is."""
    days = []
    for key in _OPEN:
        try:
            days.append(_day(metadata, key))
        except ValueError:
            return f"has an invalid {key} {metadata[key]!r}; write it like 2026-01-31"
    first, after = days
    if first >= after:
        return (
            f"has {VALID_FROM} {metadata[VALID_FROM]} and {VALID_TO} {metadata[VALID_TO]}; {VALID_TO} must be later, "
            "since it is the first day on which the article is no longer in force"
        )
    return None


def asked_day(as_of: str | date) -> int | None:
    """Return the ordinal of a date, of ISO text or of `today`; None for `always`.

    Raises:
        UsageError: for anything else.
    """
    if isinstance(as_of, date):
        return as_of.toordinal()
    if as_of == ALWAYS:
        return None
    if as_of == TODAY:
        return date.today().toordinal()
    try:
        return _ordinal(as_of)
    except ValueError:
        raise UsageError(f"as of '{as_of}': not a date; write it like 2026-01-31, or today, or {ALWAYS}") from None


def _day(metadata: Mapping[str, object], key: str) -> int:
    value = metadata.get(key)
    return _OPEN[key] if value is None or value == "" else _ordinal(value)


def _ordinal(value: object) -> int:
    if not isinstance(value, str) or not _ISO_DATE.fullmatch(value):
        raise ValueError(value)
    return date.fromisoformat(value).toordinal()
