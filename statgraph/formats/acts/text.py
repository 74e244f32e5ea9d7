"""The text of an element: its lines, list marks in front of what they mark, a row of a table a line.

Elements become pieces of text with a few control characters between them, and those become lines in one go.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress

from statgraph.formats.acts.profile import Profile
from statgraph.formats.acts.selectors import Element, Selector, attribute, local_name, selectors_of
from statgraph.law.citations.numbers import roman_numeral
from statgraph.law.raised import fraction, raised

CELL_SEPARATOR = " | "
_LINES = "p, li, ol, ul, dl, dd, table, caption, h1, h2, h3, h4, h5, h6"  # what every format means by them
# Noncharacters of Unicode, which no text holds: where a line begins and ends, where a mark and where a reference ends.
_LINE, _END, _MARK, _REFERENCE = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")  # soft hyphens and characters of no width
_AFTER_MARK = re.compile(rf"{_MARK}[\s{_LINE}{_MARK}]*")
_ENDS = re.compile(f"[{_LINE}{_END}]")
_REFERRED = re.compile(f"{_REFERENCE}(\\d+){_REFERENCE}")
# A mark that stands alone: "(a)", "1.", "1-bis.", "12°", "–".
_LONE_MARK = re.compile(r"[(\[]?[\w\-]{1,8}[.)\]°]{1,2}|[–—•·\-]")
_CLOSING = re.compile(r"[.,;:”“’»)\]]+")  # what stands behind a quotation in a line of its own
_MARK_CHARS = 12
_STYLES = {
    "alpha": "a",
    "alphaupper": "A",
    "roman": "i",
    "romanupper": "I",
    "arabic": "1",
    **dict.fromkeys(("dash", "disc", "circle", "square", "bullet"), " "),
}
_DECORATIONS = {"parens": "({})", "parenRight": "{})", "brackets": "[{}]", "period": "{}.", "none": "{}"}

# What an element is to the text.
_INLINE, _SKIP, _BLOCK, _MARKED, _ROW, _CELL, _BREAK, _WRITE, _COUNTED, _REFER, _RAISED, _STACKED = range(1, 13)
_Role = int


class TextReader:
    """Reads the texts of elements as a profile says.

    Attributes:
        targets: what the references in the texts point to, as far as the profile finds targets.
        n_references: references read, in articles and headings.
        removed: what the profile's patterns removed.
        running: the names of elements that no key of the profile names, which are read as running text.
    """

    def __init__(self, profile: Profile):
        self._keep_ends = profile.settings.line_ends
        self._remove = profile["remove"]
        self._written = profile["write"]
        self._first = profile["first"]
        self._target = profile["references.target"]
        self._rules: dict[str, list[tuple[Selector, _Role]]] = {}
        # The first role that fits is an element's: the profile's own words come before those of HTML and CALS tables.
        for role, selectors in (
            (_SKIP, profile["leave_out"]),
            (_REFER, profile["references.elements"]),
            (_MARKED, profile["marks"]),
            (_WRITE, tuple(selector for selector, _ in profile["write"])),
            (_COUNTED, profile["counted"]),
            (_ROW, (*profile["rows"], *selectors_of("tr, row"))),
            (_CELL, (*profile["cells"], *selectors_of("td, th, entry"))),
            (_BLOCK, (*profile["lines"], *selectors_of(_LINES))),
            (_BREAK, selectors_of("br, BR")),
            (_RAISED, (*profile["raised"], *selectors_of("sup, SUP, Sup, SU, Superior, msup"))),
            (_STACKED, selectors_of("mfrac")),
        ):
            for selector in selectors:
                self._rules.setdefault(selector.name, []).append((selector, role))
        self._roles: dict[object, _Role] = {}  # by tag, where nothing else decides
        self.targets: list[str] = []
        self.n_references = 0
        self.removed: list[str] = []
        self.running: set[str] = set()

    def line(self, element: Element) -> str:
        """Return the text of an element on one line, without what the profile removes."""
        return " ".join(self.lines(element)[0].split("\n"))

    def lines(self, element: Element, without: Collection[Element] = ()) -> tuple[str, list[str]]:
        """Return (the text of an element, its lines separated by newlines; the targets of the references in it).

        Args:
            without: elements that are left out, such as the number and the rubric of an article.
        """
        self.targets = []
        pieces: list[str] = []
        role = self._role_of(element)
        if role == _WRITE:
            self._instead(element, pieces)
        elif role == _RAISED:
            self._off_the_line(element, role, pieces, without)
        else:
            self._inside(element, pieces, without)
        text = "\n".join(self._finished(pieces))
        for pattern in self._remove:
            text = pattern.sub(self._removing, text)
        left = [self.targets[int(number)] for number in _REFERRED.findall(text)]
        lines = (" ".join(line.split()) for line in _REFERRED.sub("", text).split("\n"))
        return "\n".join(filter(None, lines)), list(dict.fromkeys(filter(None, left)))

    def _removing(self, match: re.Match[str]) -> str:
        self.removed.append(_REFERRED.sub("", match[0]))
        return ""

    def _inside(self, element: Element, pieces: list[str], without: Collection[Element]) -> None:
        """Add what is between the tags of an element."""
        if element.text:
            pieces.append(element.text)
        for child in self._ordered(element) if self._first else element:
            role = self._roles.get(child.tag) or self._role_of(child)
            if role == _INLINE and child not in without:
                self._inside(child, pieces, without)
            elif role != _SKIP and child not in without:
                self._special(child, role, pieces, without)
            if child.tail:
                pieces.append(child.tail)

    def _ordered(self, element: Element) -> list[Element]:
        """Return the children of an element, those in front that the profile reads first."""
        return sorted(element, key=lambda child: not any(selector.matches(child) for selector in self._first))

    def _special(self, child: Element, role: _Role, pieces: list[str], without: Collection[Element]) -> None:
        add = pieces.append
        if role in (_BLOCK, _CELL):  # the most common first; or a cell without a row
            add(_LINE)
            self._inside(child, pieces, without)
            add(_END)
        elif role == _MARKED:
            add(_LINE)
            if not (self._written and self._instead(child, pieces)):
                self._inside(child, pieces, without)
            add(_MARK)
        elif role == _REFER:
            add(f"{_REFERENCE}{len(self.targets)}{_REFERENCE}")
            target = self._target.text(child, self._plain)
            self.n_references += 1
            self.targets.append(target)
            self._inside(child, pieces, without)
        elif role == _ROW:
            self._row(child, pieces, without)
        elif role == _BREAK:
            add(_LINE)
        elif role == _WRITE:
            self._instead(child, pieces)
        elif role == _COUNTED:
            self._list(child, pieces, without)
        else:
            self._off_the_line(child, role, pieces, without)

    def _row(self, row: Element, pieces: list[str], without: Collection[Element]) -> None:
        """Add a row's cells on a line; where a mark stands in the first of two, as in lists that are laid out as
        tables, the other follows it with its own lines."""
        cells = []
        for cell in row:
            if self._role_of(cell) == _CELL:
                inside: list[str] = []
                self._inside(cell, inside, without)
                cells.append(inside)
        texts = [" ".join(self._finished(cell)) for cell in cells]
        pieces.append(_LINE)
        if not cells:
            self._inside(row, pieces, without)
        elif len(cells) == 2 and _LONE_MARK.fullmatch(_REFERRED.sub("", texts[0])):
            pieces += [texts[0], _MARK, *cells[1]]
        elif any(texts):
            pieces.append(CELL_SEPARATOR.join(texts))
        pieces.append(_END)

    def _list(self, element: Element, pieces: list[str], without: Collection[Element]) -> None:
        for place, item in enumerate((child for child in element if local_name(child)), start=1):
            pieces += [_LINE, list_mark(element, item, place), _MARK]
            self._inside(item, pieces, without)
            pieces.append(_END)

    def _off_the_line(self, element: Element, role: _Role, pieces: list[str], without: Collection[Element]) -> None:
        """Add a superscript, or of mathematics a power or a fraction."""
        parts = list(element) if role == _STACKED or local_name(element) == "msup" else [element]
        texts = []
        for part in parts:
            inside: list[str] = []
            self._inside(part, inside, without)
            texts.append("".join(inside))
        if role == _STACKED and len(texts) == 2:
            pieces.append(fraction(*texts))
        else:
            pieces += [*texts[:-1], *(raised(text) for text in texts[-1:])]

    def _instead(self, element: Element, pieces: list[str]) -> bool:
        """Add what the profile writes for an element, and return whether it does."""
        text = next((text for selector, text in self._written if selector.matches(element)), None)
        if text is None:
            return False
        filled = re.sub(r"@([A-Za-z_][\w:.\-]*)", lambda match: attribute(element, match[1]) or "", text)
        if text.startswith("U+"):
            with suppress(ValueError, OverflowError):
                pieces.append(chr(int(filled[2:], 16)))
            return True
        before, own, after = filled.partition("@.")
        pieces.append(before)
        if own:
            inside: list[str] = []
            self._inside(element, inside, ())
            pieces.append("".join(inside).strip())
        pieces.append(after)
        return True

    def _plain(self, element: Element) -> str:
        return " ".join("".join(element.itertext()).split())

    def _finished(self, pieces: list[str]) -> list[str]:
        """Return the lines that pieces make."""
        text = "".join(pieces)
        if self._keep_ends:
            text = text.replace("\n", _LINE)
        text = " ".join(_AFTER_MARK.sub(" ", _INVISIBLE.sub("", text)).split())
        lines: list[str] = []
        for line in _ENDS.split(text):
            line = line.strip()
            if not line:
                continue
            if lines and len(lines[-1]) <= _MARK_CHARS and _is_mark_of(lines[-1], line):
                lines[-1] = f"{lines[-1]} {line}"
            elif lines and len(line) <= _MARK_CHARS and _CLOSING.fullmatch(line):
                lines[-1] += line
            else:
                lines.append(line)
        return lines

    def _role_of(self, element: Element) -> _Role:
        if known := self._roles.get(element.tag):
            return known
        name = local_name(element)  # "" of a comment
        rules = self._rules.get(name, ())
        if name and not rules:
            self.running.add(name)
        role = next((role for selector, role in rules if selector.fits(element)), _INLINE if name else _SKIP)
        if not rules or rules[0][0].condition is None:
            self._roles[element.tag] = role
        return role


def _is_mark_of(mark: str, line: str) -> bool:
    """Return whether a line is a mark alone, and that of the one below it, which then has none of the same kind."""
    following = _LONE_MARK.match(line)
    marks = (mark, following[0] if following else "")
    kinds = {re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "1", one)) for one in marks}  # "(1)" and "(12)" are of one
    return bool(_LONE_MARK.fullmatch(mark)) and len(kinds) == len(marks)


def list_mark(element: Element, item: Element, place: int) -> str:
    """Return the mark of an item of a list that has none, as the attributes of both say.

    Understood are HTML's `type` and `start`, Luxembourg's `symbol` ("a)", "1°", "dash"), and the United Kingdom's
    `Type`, `Decoration` and `NumberOverride`. A list that says nothing is numbered if its name begins with "o", for
    ordered.
    """
    is_ordered = local_name(element)[:1].lower() == "o"
    given = next((found for name in ("symbol", "type", "Type") if (found := attribute(element, name))), "")
    decoration = attribute(element, "Decoration") or ""
    if given in ("custom", "none") or (decoration == "none" and not is_ordered):
        return ""
    style = _STYLES.get(given, given) or ("1" if is_ordered else " ")
    start = attribute(element, "start") or ""
    number = place + int(start) - 1 if start.isdecimal() else place
    mark = attribute(item, "NumberOverride") or _counted(number, style[0])
    return _DECORATIONS.get(decoration, f"{{}}{style[1:] or '.'}").format(mark) if mark else "–"


def _counted(number: int, style: str) -> str:
    """Return a number in a style of HTML's `type`; "" for another style."""
    if style == "1":
        return str(number)
    written = ""
    if style in "iI":
        written = roman_numeral(number) if 0 < number < 40 else str(number)
    while style in "aA" and number > 0:
        number, rest = divmod(number - 1, 26)
        written = chr(ord("a") + rest) + written
    return written.upper() if style.isupper() else written
