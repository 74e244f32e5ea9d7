"""The two small languages of a profile: selectors say which elements, values say where a text or date is found.

Both name elements without their namespaces. An attribute that has one is written with any prefix, as [xml:lang=fr].

    section                   every element of that name
    P1group/Title             one whose parent is a P1group
    hcontainer[name=wrapper]  one with that attribute; [type^=foot] begins with it, [class~=unit] has it among its
                              words, [status!=repealed] has another value or none, [status] has any

A value starts from an element that a selector found: `num` is the text of a child, `kop/nr` that of a grandchild, `..`
the parent, `num[2]` the second child of that name, `//FRBRdate[name=x]/@date` an attribute of an element at any depth,
`^P1group/Title` a child of the nearest P1group around it, `.` the element's own text, `=Section` the word Section.
` + ` joins two values with a blank, ` & ` without, and ` ~ PATTERN` keeps what a regular expression finds: its first
group, if it has one. Both become XPath, which lxml evaluates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from lxml import etree

Element = Any  # lxml ships no types
XPath = Any

_BETWEEN = r"(?![^\[]*\])"  # not inside brackets
_STEP = re.compile(r"(?P<name>\^?[^\W\d][\w.\-]*|\.\.|\.)(?P<tests>(?:\[[^\[\]]+\])*)")
_TEST = re.compile(r"\[(?:(?P<place>\d+)|@?(?P<name>[\w:.\-]+)(?:(?P<how>[~^!]?=)(?P<value>[^\[\]]*))?)\]")
_CONDITIONS = {
    None: "{0}",
    "=": "{0} = {1}",
    "!=": "not({0} = {1})",
    "^=": "starts-with({0}, {1})",
    "~=": "contains(concat(' ', normalize-space({0}), ' '), concat(' ', {1}, ' '))",
}
_AXES = {"..": "parent::*", ".": "self::*"}


@dataclass(frozen=True, slots=True)
class Selector:
    """Elements by their name and a condition on their attributes and parents; `names` are theirs and the parents'."""

    name: str
    names: tuple[str, ...]
    condition: XPath = None

    def matches(self, element: Element) -> bool:
        """Return whether an element is one of these."""
        return self.name == local_name(element) and self.fits(element)

    def fits(self, element: Element) -> bool:
        """Return whether an element of that name is one of these."""
        return self.condition is None or self.condition(element)


def local_name(element: Element) -> str:
    """Return an element's name without its namespace or an undeclared prefix; "" for a comment or an instruction."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """Return an attribute by its name, whatever its namespace; None where the element has none."""
    found: str | None = element.get(name)
    if found is None and element.attrib:
        local = name.rpartition(":")[2]
        return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == local), None)
    return found


@lru_cache(maxsize=4096)
def selectors_of(text: str) -> tuple[Selector, ...]:
    """Return the selectors of a text, which separates several by commas.

    Raises:
        ValueError: if the text cannot be parsed; the message says why.
    """
    return tuple(_selector(part.strip()) for part in re.split(f",{_BETWEEN}", text))


def _selector(text: str) -> Selector:
    steps = [_STEP.fullmatch(step) for step in re.split(f"/{_BETWEEN}", text)]
    names = [step["name"] for step in reversed(steps) if step]
    if len(names) < len(steps) or any(name[0] in ".^" for name in names) or re.search(r"\[\d+\]", text):
        raise ValueError(f"'{text}' names no element; write it like section, chapter/num or p[class=title]")
    upwards = "/parent::".join(_any_of(step["name"]) + _conditions(step) for step in reversed(steps) if step)
    is_name = len(steps) == 1 and "[" not in text
    return Selector(names[0], tuple(names), None if is_name else _xpath(f"boolean(self::{upwards})", text))


def _any_of(name: str) -> str:
    """Return the XPath of what has a name in any namespace."""
    return f"*[local-name() = '{name.rpartition(':')[2]}']"


def _conditions(step: re.Match[str]) -> str:
    """Return the XPath of the conditions of a step."""
    tests = list(_TEST.finditer(step["tests"]))
    if len(tests) != step["tests"].count("["):
        raise ValueError(f"'{step[0]}' has an invalid condition; write it like [status=repealed] or [2]")
    found = ""
    for test in tests:
        name, value = test["name"] or "", test["value"] or ""
        named = f"@{_any_of(name)}" if ":" in name else f"@{name}"
        quoted = f'"{value}"' if "'" in value else f"'{value}'"
        found += f"[{test['place'] or _CONDITIONS[test['how']].format(named, quoted)}]"
    return found


def _xpath(xpath: str, text: str) -> XPath:
    try:
        return etree.XPath(xpath, smart_strings=False)
    except etree.XPathSyntaxError:
        raise ValueError(f"'{text}' has an invalid condition; write it like [status=repealed] or [2]") from None


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of a value: what a path reaches from an element, or from each element of the name `start` in it, as far
    as it matches a pattern; without a path a literal. `before` is written where it follows another part."""

    before: str
    literal: str = ""
    path: XPath = None
    start: str = ""
    names: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None

    def find(self, element: Element, text_of: Callable[[Element], str]) -> tuple[str, list[Element]]:
        """Return what the first element or attribute that has any says, and that element."""
        starts = element.iter(f"{{*}}{self.start}") if self.start else (element,)  # faster than XPath's descendants
        for reached in chain.from_iterable(map(self.path, starts)) if self.path else ():
            found = reached if isinstance(reached, str) else text_of(reached)
            if self.pattern is not None:
                match = self.pattern.search(found) if found else None
                found = (match[1] if match.re.groups else match[0]) or "" if match else ""
            if found.strip():
                return found.strip(), [] if isinstance(reached, str) else [reached]
        return self.literal, []


class Value:
    """Where a text is found from an element: the first of several alternatives that has any.

    Attributes:
        names: those of the elements on the way to the text.
    """

    def __init__(self, *alternatives: str):
        self._alternatives: list[list[_Part]] = []
        for text in alternatives:
            first, *others = re.split(r" ([+&]) ", text)
            pairs = zip(["+", *others[::2]], [first, *others[1::2]], strict=True)
            self._alternatives.append([_part(part.strip(), " " * (sign == "+")) for sign, part in pairs])
        self.names = frozenset(name for parts in self._alternatives for part in parts for name in part.names)

    def __bool__(self) -> bool:
        return bool(self._alternatives)

    def find(self, element: Element, text_of: Callable[[Element], str]) -> tuple[str, list[Element]]:
        """Return (text, the elements that it is the text of); ("", []) where no alternative has any.

        Of a sum, literal parts alone are no text.
        """
        for parts in self._alternatives:
            found = [part.find(element, text_of) for part in parts]
            if len(parts) == 1 and found[0][0]:
                return found[0]
            if any(text and part.path for part, (text, _) in zip(parts, found, strict=True)):
                texts = [
                    part.before + (text.rstrip(" —–:") if part.path else text)
                    for part, (text, _) in zip(parts, found, strict=True)
                ]
                return "".join(filter(str.strip, texts)).strip(), [one for _, used in found for one in used]
        return "", []

    def text(self, element: Element, text_of: Callable[[Element], str]) -> str:
        return self.find(element, text_of)[0]


def _part(text: str, before: str) -> _Part:
    where, tilde, pattern = text.partition(" ~ ")
    where = where.strip()
    compiled = pattern_of(pattern.strip()) if tilde else None
    if where.startswith("="):
        return _Part(before, literal=where[1:].strip())
    path, at, name = where.rpartition("@") if re.search(r"(?:^|/)@[\w:.\-]+$", where) else (where, "", "")
    steps = re.findall(r"(//?|^)((?:[^/\[]|\[[^\]]*\])+)", path)
    matches = [_STEP.fullmatch(step) for _, step in steps]
    if not (all(matches) and (steps or at)) or "".join(map("".join, steps)) != path.rstrip("/"):
        raise ValueError(f"'{text}' is no place of a text; write it like num, @id, ../heading or //title/@date")
    xpath = [_reached(match, deep == "//") for (deep, _), match in zip(steps, matches, strict=True) if match]
    names = tuple(match["name"].lstrip("^") for match in matches if match and match["name"] not in _AXES)
    start = ""
    if steps and steps[0][0] == "//" and matches[0] and not re.search(r"\[\d+\]", steps[0][1]):
        start, xpath[0] = matches[0]["name"], f"self::*{_conditions(matches[0])}"
    return _Part(before, "", _xpath("/".join(xpath + [f"@{_any_of(name)}"] * bool(at)), text), start, names, compiled)


def pattern_of(text: str) -> re.Pattern[str]:
    """Return a regular expression.

    Raises:
        ValueError: if the text is none.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"'{text}' is no regular expression ({error}); correct it") from None


def _reached(step: re.Match[str], is_deep: bool) -> str:
    """Return the XPath of a step of a path."""
    name, conditions = step["name"], _conditions(step)
    if name.startswith("^"):
        return f"ancestor::{_any_of(name[1:])}{conditions}[1]"
    axis = "descendant-or-self::" if is_deep else ""
    return f"{_AXES.get(name) or axis + _any_of(name)}{conditions}"
