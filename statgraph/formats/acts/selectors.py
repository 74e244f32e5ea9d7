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
group, if it has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

Element = Any  # lxml ships no types

_NAME = r"[^\W\d][\w.\-]*"
_TEST = r"\[(?:(?P<place>\d+)|@?(?P<name>[\w:.\-]+)(?:(?P<how>[~^!]?)=(?P<value>[^\[\]]*))?)\]"
_TESTS = re.compile(_TEST)
_BETWEEN = r"(?![^\[]*\])"  # not inside brackets
_STEP = re.compile(rf"(?P<name>\^?{_NAME}|\.\.|\.)(?P<tests>(?:\[[^\[\]]+\])*)")


@dataclass(frozen=True, slots=True)
class _Test:
    name: str
    how: str
    value: str | None

    def holds(self, element: Element) -> bool:
        found = attribute(element, self.name) if ":" in self.name else element.get(self.name)
        if self.how == "!":
            return found != self.value
        if found is None or self.value is None:
            return found is not None
        if self.how == "~":
            return self.value in found.split()
        return found.startswith(self.value) if self.how == "^" else found == self.value


@dataclass(frozen=True)
class Selector:
    """An element by its name, its attributes and its parents; `place` counts it among its like, from 1."""

    name: str
    tests: tuple[_Test, ...] = ()
    place: int = 0
    parent: Selector | None = None

    @cached_property
    def path(self) -> str:
        """Return its name in any namespace, as lxml writes it."""
        return f"{{*}}{self.name}"

    @cached_property
    def is_child(self) -> bool:
        """Return whether it is any child of its name, as a step."""
        return self.is_name and not self.place and self.name[0] not in ".^"

    @property
    def is_name(self) -> bool:
        """Return whether the name alone decides."""
        return not self.tests and self.parent is None

    @property
    def names(self) -> set[str]:
        """Return its name and those of its parents."""
        return {self.name} if self.parent is None else {self.name, *self.parent.names}

    def matches(self, element: Element) -> bool:
        """Return whether an element is one of these."""
        return self.name == local_name(element) and self.fits(element)

    def fits(self, element: Element) -> bool:
        """Return whether an element of that name is one of these."""
        for test in self.tests:
            if not test.holds(element):
                return False
        if self.parent is None:
            return True
        above = element.getparent()
        return above is not None and self.parent.matches(above)

    def among(self, named: Iterable[Element]) -> list[Element]:
        """Return which of some elements of the name are these."""
        found = [element for element in named if self.fits(element)] if not self.is_name else list(named)
        return found[self.place - 1 : self.place] if self.place else found


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
    found: Selector | None = None
    for step in re.split(f"/{_BETWEEN}", text):
        match = _STEP.fullmatch(step)
        if not match or match["name"][0] in ".^" or re.search(r"\[\d+\]", match["tests"]):
            raise ValueError(f"'{text}' names no element; write it like section, chapter/num or p[class=title]")
        found = _of_step(match, found)
    assert found is not None
    return found


def _of_step(match: re.Match[str], parent: Selector | None = None) -> Selector:
    tests, place = [], 0
    for test in _TESTS.finditer(match["tests"]):
        if test["place"]:
            place = int(test["place"])
        else:
            tests.append(_Test(test["name"], test["how"] or "", test["value"]))
    if len(list(_TESTS.finditer(match["tests"]))) != match["tests"].count("["):
        raise ValueError(f"'{match[0]}' has an invalid condition; write it like [status=repealed] or [2]")
    return Selector(match["name"], tuple(tests), place, parent)


@dataclass(frozen=True, slots=True)
class _Source:
    """One part of a value: a `literal`, or what `steps` reach from an element, and of that an attribute or its text."""

    literal: str | None
    steps: tuple[tuple[bool, Selector], ...]  # each with whether it goes down any number of levels
    attribute: str
    pattern: re.Pattern[str] | None
    before: str = " "  # where it follows another one

    def elements(self, element: Element) -> Iterable[Element]:
        """Return what the steps reach from an element."""
        if len(self.steps) == 1 and self.steps[0][1].is_child and not self.steps[0][0]:
            children: Iterable[Element] = element.iterchildren(self.steps[0][1].path)  # the most common
            return children
        reached = [element]
        for deep, step in self.steps:
            if step.name == "..":
                reached = [above for one in reached if (above := one.getparent()) is not None and step.fits(above)]
            elif step.name.startswith("^"):
                outer = (next(filter(step.fits, one.iterancestors(f"{{*}}{step.name[1:]}")), None) for one in reached)
                reached = [one for one in outer if one is not None]
            elif step.name != ".":
                reached = [
                    found
                    for one in reached
                    for found in step.among(one.iter(step.path) if deep else one.iterchildren(step.path))
                ]
        return reached

    def find(self, element: Element, text_of: Callable[[Element], str]) -> tuple[str, Element | None]:
        """Return what the first element that has any says, and that element if it was its text."""
        if self.literal is not None:
            return self.literal, None
        for reached in self.elements(element):
            found = (attribute(reached, self.attribute) or "") if self.attribute else text_of(reached)
            if self.pattern is not None and found:
                match = self.pattern.search(found)
                found = (match[1] if match.re.groups else match[0]) or "" if match else ""
            if found.strip():
                return found.strip(), None if self.attribute else reached
        return "", None


class Value:
    """Where a text is found from an element: the first of several alternatives that has any."""

    def __init__(self, *alternatives: str):
        self._alternatives: list[list[_Source]] = []
        for text in alternatives:
            first, *others = re.split(r" ([+&]) ", text)
            pairs = zip(["+", *others[::2]], [first, *others[1::2]], strict=True)
            self._alternatives.append([_source(part.strip(), " " * (sign == "+")) for sign, part in pairs])

    def __bool__(self) -> bool:
        return bool(self._alternatives)

    @property
    def selectors(self) -> list[Selector]:
        """Return the selectors of the elements on the way to the text."""
        return [step for parts in self._alternatives for part in parts for _, step in part.steps]

    def find(self, element: Element, text_of: Callable[[Element], str]) -> tuple[str, list[Element]]:
        """Return (text, the elements that it is the text of); ("", []) where no alternative has any.

        Of a sum, literal parts alone are no text.
        """
        for parts in self._alternatives:
            if len(parts) == 1:
                text, used_one = parts[0].find(element, text_of)
                if text:
                    return text, [] if used_one is None else [used_one]
                continue
            found = [(part.find(element, text_of), part) for part in parts]
            if any(text and part.literal is None for (text, _), part in found):
                texts = [
                    part.before + (text.rstrip(" —–:") if part.literal is None else text) for (text, _), part in found
                ]
                return "".join(filter(str.strip, texts)).strip(), [used for (_, used), _ in found if used is not None]
        return "", []

    def text(self, element: Element, text_of: Callable[[Element], str]) -> str:
        return self.find(element, text_of)[0]


def _source(text: str, before: str) -> _Source:
    where, tilde, pattern = text.partition(" ~ ")
    where = where.strip()
    try:
        compiled = re.compile(pattern.strip()) if tilde else None
    except re.error as error:
        raise ValueError(f"'{pattern.strip()}' is no regular expression ({error}); correct it") from None
    if where.startswith("="):
        return _Source(where[1:].strip(), (), "", None, before)
    path, at, name = where.rpartition("@") if re.search(r"(?:^|/)@[\w:.\-]+$", where) else (where, "", "")
    steps = re.findall(r"(//?|^)((?:[^/\[]|\[[^\]]*\])+)", path)
    matches = [_STEP.fullmatch(step) for _, step in steps]
    if not (all(matches) and (steps or at)) or "".join(map("".join, steps)) != path.rstrip("/"):
        raise ValueError(f"'{text}' is no place of a text; write it like num, @id, ../heading or //title/@date")
    found = tuple((before == "//", _of_step(match)) for (before, _), match in zip(steps, matches, strict=True) if match)
    return _Source(None, found, name, compiled, before)
