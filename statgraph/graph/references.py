"""Which articles an article names in its text: "under articles L. 12-3 and L. 12-5 of the Housing Code"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

LONGEST_RANGE = 50
_LOOK_AHEAD = 120  # characters after a number in which its code is named
_CODE_WITHIN = 4  # words: "of the Labour Code", not "of the dwelling that the Code"

_LETTERS = r"(?:LO|[A-Z])\.?\s?\*{0,2}\s?"
_DIGITS = r"\d+(?:[-.]\d+)*(?:\s?[A-Z]\b(?!['’]))?(?!\d|\s?°)"
_NUMBER = rf"(?:{_LETTERS})?{_DIGITS}"
_ARTICLE = r"\b[Aa]rt(?:icle|ikel|ícul|icol)?(?:s|en|os?|i)?\b\.?"
_SECTION = r"(?:\b[Ss]ections?\b|§{1,2})"
_JOIN = r"\s*(?:,\s*(?:et|and|ou|or)?|;|\bet\b|\band\b|\bou\b|\bor\b|\ben\b|\bund\b|à|\bau\b|\bto\b|\btot\b|\bbis\b)\s*"
_PART = re.compile(rf"(?P<join>à|\bau\b|\bto\b|\btot\b|\bbis\b)|(?P<letters>{_LETTERS})?(?P<digits>{_DIGITS})")
# What follows the numbers: the text that they belong to; their own code where nothing does.
_THIS = re.compile(r"\s*(?:du présent|of (?:this|the present)|van dit)\b")
_SAME = re.compile(
    r"\s*(?:du même|de ce même|dudit|of (?:the same|that)|van (?:hetzelfde|dat))\s+(?:code|wetboek)\b", re.IGNORECASE
)
_NAMED = re.compile(
    r"\s*,?\s*(?:du|de la|de l['’]|des|de ce|dudit|of the|of|van (?:het|de))\s*(?P<name>(?:[\w'’\-]+\s?){1,12})"
)
_OTHER_TEXT = re.compile(
    r"(?:même )?(?:loi|décret|ordonnance|règlement|directive|convention|traité|constitution|act|regulation|treaty|"
    r"wet|besluit|verordening)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"\bcode\b|\bwetboek\b", re.IGNORECASE)


class ReferenceFinder:
    """Finds the articles that a text names by number, in its own code or in another that it names.

    Args:
        titles: the title of each article, which begins with its number ("Art. L12-3, Housing Code").
        codes: the title of the code that each stands in.
    """

    def __init__(self, titles: Sequence[str], codes: Sequence[str]):
        # Where articles are called sections; elsewhere a section is a heading.
        sections = any(re.match(rf"\W*{_SECTION}", title) for title in titles)
        word = f"(?:{_ARTICLE}|{_SECTION})" if sections else _ARTICLE
        self._cited = re.compile(rf"{word}\s*({_NUMBER}(?:{_JOIN}{_NUMBER})*)")
        title_number = re.compile(rf"\W*{word}\s*({_NUMBER})")
        self._rows: dict[str, dict[str, int]] = {}
        for row, (title, code) in enumerate(zip(titles, codes, strict=True)):
            numbers = self._rows.setdefault(code, {})
            match = title_number.match(title)
            if match:
                numbers.setdefault(_key(match[1]), row)
        self._codes = {_plain(code): code for code in self._rows}

    def find(self, text: str, code: str) -> list[int]:
        """Return the rows of the articles that a text of a code names, each once, in the order of the text."""
        found: dict[int, None] = {}
        named: str | None = code  # what "the same code" means
        for cited in self._cited.finditer(text):
            after = text[cited.end() : cited.end() + _LOOK_AHEAD]
            if not _SAME.match(after):
                named = self._named_code(after, code)
            if named is not None:
                found.update(dict.fromkeys(self._rows_of(cited[1], self._rows[named])))
        return list(found)

    def _named_code(self, after: str, code: str) -> str | None:
        """Return the code that the words after a number name; its own where they name none, None for another text."""
        named = _NAMED.match(after)
        if named is None or _THIS.match(after):
            return code
        if _OTHER_TEXT.match(named["name"]):
            return None
        words = _plain(named["name"])
        known = [title for plain, title in self._codes.items() if words == plain or words.startswith(f"{plain} ")]
        if known:
            return max(known, key=len)
        return None if _CODE.search(" ".join(named["name"].split()[:_CODE_WITHIN])) else code

    def _rows_of(self, numbers: str, rows: dict[str, int]) -> list[int]:
        """Return the rows of "L. 1, 2 and L. 5 to L. 7"; a number without letters takes those of the one before."""
        found: list[int] = []
        letters, last, through = "", None, False
        for part in _PART.finditer(numbers):
            if part["join"]:
                through = True
                continue
            letters = part["letters"] or letters
            row = rows.get(_key(letters + part["digits"]))
            if row is None and not part["letters"]:
                row = rows.get(_key(part["digits"]))
            if row is not None:
                if through and last is not None and 0 < row - last <= LONGEST_RANGE:
                    found.extend(range(last + 1, row))
                found.append(row)
            last, through = row, False
        return found


def _key(number: str) -> str:
    """Return a number as numbers are compared: `R. *123-4 A` and `R123-4A` are one."""
    return re.sub(r"[\s.*]+", "", number).upper()


def _plain(title: str) -> str:
    """Return a title without case, accents and punctuation."""
    letters = unicodedata.normalize("NFKD", title.casefold())
    return " ".join(re.findall(r"[^\W_]+", "".join(c for c in letters if not unicodedata.combining(c))))
