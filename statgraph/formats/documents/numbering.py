"""Numbers of list items, which are printed but are not in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from statgraph.formats.documents.office import W, find, value
from statgraph.law.citations.numbers import roman_numeral

if TYPE_CHECKING:
    from docx.document import Document as Docx

_CHINESE = {"chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand"}
_ALPHABETS = {"Letter": "abcdefghijklmnopqrstuvwxyz", "russian": "абвгдежзиклмнопрстуфхцчшщэюя"}


def printed_number(number: int, kind: str) -> str:
    """Return the number of a list item as it is printed: "c", "III", "十二", of a kind such as "lowerLetter"."""
    text = str(number)
    if kind == "none":
        text = ""
    elif kind.endswith("Roman"):
        text = roman_numeral(number)
    elif kind.endswith("Letter") or kind.startswith("russian"):
        letters = _ALPHABETS["russian" if kind.startswith("russian") else "Letter"]
        text = letters[(number - 1) % len(letters)] * ((number - 1) // len(letters) + 1)
    elif kind == "decimalZero":
        text = f"{number:02}"
    elif kind == "decimalEnclosedCircle" and 1 <= number <= 20:
        text = chr(ord("①") + number - 1)
    elif (kind in _CHINESE or kind.startswith("japanese")) and 1 <= number < 10_000:
        text = _chinese(number, is_japanese=kind.startswith("japanese"))
    return text.upper() if kind.lower().startswith("upper") or kind.endswith("Upper") else text


def _chinese(number: int, *, is_japanese: bool) -> str:
    """Return a number below 10,000 with signs for ten, hundred and thousand: 一百零二, in Japanese 百二."""
    signs = ""
    for digit, unit in zip(f"{number:04}", ("千", "百", "十", ""), strict=True):
        if digit != "0":
            is_bare = digit == "1" and unit and (is_japanese or (unit == "十" and not signs))
            signs += "" if is_bare else "零一二三四五六七八九"[int(digit)]
            signs += unit
        elif signs and not is_japanese and not signs.endswith("零"):
            signs += "零"
    return signs.rstrip("零")


class _ListLevel(NamedTuple):
    """A level of a list.

    Attributes:
        kind: of its numbers.
        text: what is printed, with %1 for the number of the first level.
        start: the first number.
        restarts_below: where it begins again: below an item of a level before this one.
        is_legal: whether all numbers in the text are printed in digits.
    """

    kind: str = "decimal"
    text: str = ""
    start: int = 1
    restarts_below: int = 0
    is_legal: bool = False


class Numbering:
    """Counts the paragraphs of numbered lists, whose numbers are not in their text."""

    def __init__(self, document: Docx):
        # Of each list the last number on each level, which lists of one definition share, and the levels.
        self._lists: dict[str, tuple[dict[int, int], dict[int, _ListLevel]]] = {}
        self._restarts: set[tuple[str, int]] = set()  # the lists and levels that are to begin again
        try:
            root = document.part.numbering_part.element
        except (KeyError, NotImplementedError):
            return
        definitions = {one.get(f"{W}abstractNumId"): one for one in root.iter(f"{W}abstractNum")}
        counts: dict[str, dict[int, int]] = {identifier: {} for identifier in definitions}
        by_style = {value(one, "styleLink"): identifier for identifier, one in definitions.items()}
        for number in root.iter(f"{W}num"):
            identifier, definition = number.get(f"{W}numId"), value(number, "abstractNumId")
            if definition not in definitions:
                continue
            definition = by_style.get(value(definitions[definition], "numStyleLink") or "-", definition)
            levels = {_integer(one, "ilvl"): _list_level(one) for one in definitions[definition].iter(f"{W}lvl")}
            for override in number.iter(f"{W}lvlOverride"):
                level = _integer(override, "ilvl")
                if (own := find(override, "lvl")) is not None:
                    levels[level] = _list_level(own)
                if start := value(override, "startOverride"):
                    levels[level] = levels.get(level, _ListLevel())._replace(start=int(start))
                    self._restarts.add((identifier, level))
            self._lists[identifier] = counts[definition], levels

    def mark(self, paragraph: Any, styles: Iterable[Any]) -> str:
        """Return what is printed before a paragraph of some styles: "(a) ", "- ", "" where it is in no list."""
        identifier, level = self._of(paragraph, styles)
        counts, levels = self._lists.get(identifier, ({}, {}))
        if level not in levels:
            return ""
        own = levels[level]
        if own.kind == "bullet":
            return "- "
        if (identifier, level) in self._restarts:
            self._restarts.remove((identifier, level))
            counts.pop(level, None)
        counts[level] = counts.get(level, own.start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            if level < levels.get(deeper, _ListLevel()).restarts_below:
                del counts[deeper]
        for above in range(level):
            counts.setdefault(above, levels.get(above, _ListLevel()).start)

        def printed(at: re.Match[str]) -> str:
            above = int(at[1]) - 1
            kind = "decimal" if own.is_legal else levels.get(above, _ListLevel()).kind
            return printed_number(counts.get(above, 1), kind)

        shown = re.sub(r"%(\d)", printed, own.text)
        return f"{shown} " if shown.strip() else ""

    @staticmethod
    def _of(paragraph: Any, styles: Iterable[Any]) -> tuple[str, int]:
        """Return (id of the list, level) of a paragraph, by its own properties or its styles'; ("", 0) without one."""
        level = ""
        for element in (paragraph, *styles):
            level = level or value(element, "pPr/numPr/ilvl")
            if identifier := value(element, "pPr/numPr/numId"):
                return identifier, int(level or 0)
        return "", 0


def _list_level(level: Any) -> _ListLevel:
    kind, text, start, restart = (value(level, name) for name in ("numFmt", "lvlText", "start", "lvlRestart"))
    own = _integer(level, "ilvl")
    restarts_below = min(int(restart), own) if restart.isdigit() else own
    is_legal = find(level, "isLgl") is not None
    return _ListLevel(kind, text, int(start) if start.isdigit() else 1, restarts_below, is_legal)


def _integer(element: Any, name: str) -> int:
    return int(element.get(f"{W}{name}") or 0)
