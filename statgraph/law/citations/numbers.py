"""Numbers of articles: how they are written ("L. 12-3", "14A", "3-bis", "IV"), and a form to compare them by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from statgraph.law.citations.tables import tables
from statgraph.law.normal_text import normal_text

_HYPHENS = "\u2010\u2011\u2012\u2212\uff0d"
LETTERS = r"(?:LO|[A-Z])\.?\s?\*{0,2}\s?"
END = r"(?![^\W_])"  # of a word or number
LATIN = rf"(?i:bis|ter|qu[aá]ter|quinquies|sexies|septies|octies|nonies|novies|[a-z]*(?:decies|vicies)){END}"
_RAISED = "[¹²³⁰⁴-⁹]+"
_ROMAN = {"m": 1000, "cm": 900, "d": 500, "cd": 400, "c": 100, "xc": 90, "l": 50, "xl": 40}
_ROMAN |= {"x": 10, "ix": 9, "v": 5, "iv": 4, "i": 1}
ROMAN = rf"(?=[IVX]|[LC][IVXLC])[IVXLC]{{1,8}}{END}(?!['’]|\.\s?\d)"
_NEITHER = re.compile(r"[\s*]+|(?<!\d)\.|\.(?!\d)|-(?=[^\W\d])")


def digits_pattern(
    *, marks: str, loose: str, bis_is_to: bool, joins: str = "", not_added: str = "", capitals: Iterable[str] = ()
) -> str:
    """Return a pattern of a number less its first letters, with the groups `digits`, `added` for what stands apart from
    them ("3 bis", "5 A"), and `loose` for a letter apart that may be a paragraph or a word ("§ 5 I").

    Args:
        marks: a pattern of what may follow the digits and is no part of the number ("1er", "5º").
        loose: a pattern of such letters.
        bis_is_to: whether "5 bis 7" is a range.
        joins: a pattern of words of two letters that are no part of a number: the "et" of "36et".
        not_added: a pattern of additions that are another word where they stand apart: the "ter" of "9.2 ter zake".
        capitals: pairs that stand apart in numbers: the "AH" of "39 AH".
    """
    own = rf"(?!(?:{'|'.join(filter(None, (marks, joins)))}){END})" if marks or joins else ""
    # "§ 12f." is § 12 and the next.
    segment = rf"\d+(?:\^\d+|{_RAISED})?(?:{LATIN}|{own}[a-eg-z]{{1,2}}{END}|f(?![\w.])|[A-Z]{{1,3}}{END})?"
    # "§ 1.401(k)-1" is a number; what is in brackets behind a number is a paragraph.
    segment += r"(?:(?:\((?:[a-z]{1,3}|\d{1,2})\)){1,4}(?=-\d))?"
    mark = rf"(?:\.?(?:{marks}){END}(?!\)))?" if marks else ""
    apart = r"(?!['’]|\.\s?[a-z]|\.[A-Z]|\s+\d)"
    capital = rf"(?:[A-Z]|{'|'.join(sorted(capitals, key=len, reverse=True)) or '(?!)'})"
    letter = rf"(?:-[A-Z]{{1,2}}|/[A-Z]|\s(?!{loose}{END}){capital}){END}{apart}"
    latin = rf"(?!bis\s*(?:§|(?i:art\w*\.?)|\d)){LATIN}" if bis_is_to else LATIN
    latin = rf"(?!(?:{not_added})\s+[a-z]){latin}" if not_added else latin
    return (
        rf"(?P<digits>{segment}(?:[-.:/]{segment})*){mark}"
        rf"(?P<added>(?:{letter})?(?:(?:-{LATIN}|\s{latin})(?:-\d+)?(?:\s{capital}{END}(?!['’])(?:\s{latin})?)?(?:\.\d+)?)?)"
        # "L. 12-3et" lacks a blank.
        rf"(?:(?=[^\W\d_A-Z][^\W\d_]|f{END})|{END})(?P<loose>\s{loose}{END}{apart})?"
    )


def with_plain_hyphens(text: str) -> str:
    """Return a text of the same length with "-" for the other hyphens of Unicode."""
    for hyphen in _HYPHENS:
        text = text.replace(hyphen, "-")
    return text


@lru_cache(maxsize=1 << 16)
def article_number(number: str) -> str:
    """Return an article number in comparable form: `R. *123-4 A` and `R123-4A` are one, `R123-4A`; 第一百九十条之一 and
    第 190-1 條 are `190-1`; `1.12` and `11.2` are two, as are `22¹` and `221`."""
    if not number.isascii():
        number = normal_text(number)
        for pattern, digits, units in _number_first():
            if match := pattern.fullmatch(number):
                parts = re.findall(rf"[{''.join((*digits, *units))}\d]+", match[0])
                return "-".join(numeral_value(part, digits, units) for part in parts)
        number = with_carets(with_plain_hyphens(number)).translate(_NO_ACCENTS)
    return _NEITHER.sub("", number).upper()


@cache
def _number_first() -> list[tuple[re.Pattern[str], Mapping[str, str], Mapping[str, str]]]:
    """Return for each language whose numbers stand before the word for an article a pattern of them, and the values of
    its digits and units."""
    found = []
    for table in tables().values():
        if "before_number" in table:
            one = rf"\s*[{''.join((*table['digits'], *table['units']))}\d]+\s*"
            branch, unit = ("|".join(map(re.escape, table[key])) or "(?!)" for key in ("branch", "article"))
            pattern = rf"\s*(?:{table['before_number']})?{one}(?:[-－]{one})?(?:{unit})(?:(?:{branch}){one})*"
            found.append((re.compile(pattern), table["digits"], table["units"]))
    return found


def with_carets(text: str) -> str:
    """Return a text with "22^1" for "22¹", which is no 221."""
    return re.sub(_RAISED, lambda raised: "^" + raised[0].translate(_DIGITS), text)


_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NO_ACCENTS = str.maketrans("áÁ", "aA")  # "4 quáter"


def roman_value(numeral: str) -> int:
    """Return the value of a Roman numeral."""
    values = [_ROMAN[sign] for sign in numeral.lower()]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def roman_numeral(number: int) -> str:
    """Return a number in small Roman letters, "" for 0."""
    numeral = ""
    for letters, value in _ROMAN.items():
        numeral += letters * (number // value)
        number %= value
    return numeral


def numeral_value(numeral: str, digits: Mapping[str, str], units: Mapping[str, str]) -> str:
    """Return a number below 10,000 with signs for ten, hundred, thousand: 二百三十四 and 二三四 are 234."""
    numeral = "".join(str(int(sign)) if sign.isdecimal() else sign for sign in numeral)  # "１９０"
    if not set(numeral) & set(units):
        return "".join(digits.get(sign, sign) for sign in numeral)
    total, digit = 0, ""
    for sign in numeral:
        if sign in units:
            total += int(digit or 1) * int(units[sign])
            digit = ""
        else:
            digit = (digit + digits.get(sign, sign)).lstrip("0")
    return str(total + int(digit or 0))
