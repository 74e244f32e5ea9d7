"""The articles that a reference of a fact sheet cites: by words ("Code du travail : articles L1 à L5") and link."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from statgraph.formats.catalogue.legi import LegiIndex
from statgraph.law.citations.numbers import article_number

MAX_LABELS = 50

_TOKEN = re.compile(
    r"(?P<join>\b(?:à|au|et|ou)\b|[,;])"
    r"|(?:(?P<letter>\b(?:LO|[LRDA])[.*\s]*(?=\d))|(?<![\w-]))(?P<digits>\d+(?:-\d+)*)(?P<suffix>[\s-][A-Z]\b)?"
)
_LINKED_ID = re.compile(r"LEGI(?:ARTI|SCTA)\d{12}")
_NUMBER_PARTS = re.compile(r"(?P<letter>[A-Z]*)(?P<digits>\d+(?:-\d+)*)(?P<suffix>[A-Z]?)")


def comparable_title(title: str) -> str:
    """Return a title without case, accents, punctuation and spare spaces: two sheets with equal ones ask the same."""
    letters = unicodedata.normalize("NFKD", title.casefold().replace("œ", "oe").replace("æ", "ae"))
    return " ".join(re.findall(r"[a-z0-9]+", "".join(c for c in letters if not unicodedata.combining(c))))


def cited_numbers(words: str) -> list[tuple[str, str]]:
    """Return the cited article numbers as (first, last) pairs: "L1 à L3 et R. 4" gives [("L1", "L3"), ("R4", "R4")].

    A number without its letter takes that of the number before it ("L1234-1 à 1234-5").
    """
    spans: list[tuple[str, str]] = []
    letter, join = "", ""
    for token in _TOKEN.finditer(words):
        if token["join"]:
            join = token["join"]
            continue
        if token["letter"]:
            letter = token["letter"]
        elif spans and not join:
            continue
        number = article_number(letter + token["digits"] + (token["suffix"] or ""))
        if spans and join in ("à", "au"):
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
        join = ""
    return spans


def cited_articles(index: LegiIndex, words: str, link: str) -> list[str]:
    """Return the ids of the articles that a reference cites; none if they are of another text or no longer in force.

    The link decides where the words name no articles in force, an annex, a code by another name, or more articles than
    a question may have and the link fewer: such ranges are misprints ("L3121-19 à L3123-21") or run from a part into
    another.
    """
    name, _, cited = words.partition(":")
    code = next((code for code in index.order if comparable_title(code) == comparable_title(name)), None)
    named: list[str] = []
    if code is not None and "annexe" not in comparable_title(cited):
        named = [article_id for span in cited_numbers(cited) for article_id in _between(index, code, *span)]
    linked: dict[str, None] = {}
    for linked_id in _LINKED_ID.findall(link):
        version = index.versions.get(linked_id)
        linked |= dict.fromkeys(index.sections.get(linked_id, []) if version is None else [version])
    return named if named and not (len(named) > MAX_LABELS and 0 < len(linked) < len(named)) else list(linked)


def _between(index: LegiIndex, code: str, first: str, last: str) -> list[str]:
    """Return the articles from one number to another, by their place in the code.

    Where an end is no longer in force, the outermost numbers between the two replace it: with a letter of
    the two, as one code has both an R351-1 and a D351-1.
    """
    order, numbers = index.order[code], index.numbers[code]
    ends = [numbers[number] for number in (first, last) if number in numbers]
    if len(ends) < 2:
        low, high = _number_key(first), _number_key(last)
        if first == last or low is None or high is None:
            return []
        keyed = ((_number_key(number), article_id) for number, article_id in numbers.items())
        ends = [one for key, one in keyed if key and key[0] in (low[0], high[0]) and low[1] <= key[1] <= high[1]]
        rows = {article_id: row for row, article_id in enumerate(order)}
        ends.sort(key=rows.__getitem__)
    return order[order.index(ends[0]) : order.index(ends[-1]) + 1] if ends else []


@cache
def _number_key(number: str) -> tuple[str, tuple[tuple[int, int, str], ...]] | None:
    """Return the letter of an article number and a key that sorts as a code does, or None if it is not a number.

    `L2-1 A` comes before `L2-1`, and `L2-1-1` after it.
    """
    match = _NUMBER_PARTS.fullmatch(number)
    if match is None:
        return None
    *above, last = (int(digits) for digits in match["digits"].split("-"))
    return match["letter"], (
        *((digits, 1, "") for digits in above),
        (last, 0 if match["suffix"] else 1, match["suffix"]),
    )
