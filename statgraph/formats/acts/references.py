"""Where the references of official XML lead: to an article of the same corpus, or elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from statgraph.law.citations.numbers import article_number

_LAST_PART = re.compile(r"(?:/|__)(?:(?!/|__).)*$")  # of an id: "art_70__para_2" is in "art_70"
_ADDRESS = re.compile(r"^https?://(?:www\.)?")


_Versions = list[tuple[str, str]]  # the ids of an article's versions, oldest first, with their `valid_to` or ""


class ReferenceIndex:
    """Finds the articles that targets point to, once every article is added."""

    def __init__(self) -> None:
        # By act, None for any, and local id, its last part or the number.
        self._by_id: dict[tuple[str | None, str], _Versions] = {}
        self._by_tail: dict[tuple[str, str], _Versions] = {}
        self._by_number: dict[tuple[str, str], _Versions] = {}

    def add(self, act_id: str, local_id: str, number: str, versions: _Versions) -> None:
        """Add an article with its versions, oldest first. Of two with one number, that which comes first has it."""
        act, key = act_key(act_id), act_key(local_id)
        self._by_id.setdefault((act, key), versions)
        self._by_id.setdefault((None, key), versions)
        tail = (act, key.rpartition("__")[2])
        if self._by_tail.setdefault(tail, versions) is not versions:
            self._by_tail[tail] = []  # it names two
        if digits := number_key(number):
            self._by_number.setdefault((act, digits), versions)

    def find(self, target: str, act_id: str, patterns: Iterable[re.Pattern[str]], day: str = "") -> str | None:
        """Return the id of the article that a target points to, None for what is not in the corpus.

        Args:
            target: as the file has it.
            act_id: of the citing article.
            patterns: of the profile: their groups say what of the target is the act, an article's id or its number.
            day: from which the citing article is in force, to choose among versions.
        """
        for match in filter(None, (pattern.search(target) for pattern in patterns)):
            groups = {name: unquote(found or "") for name, found in match.groupdict().items()}
            act = act_key(groups.get("act") or act_id)
            versions = self._with_id(act, act_key(groups.get("article", "")))
            versions = versions or self._by_number.get((act, number_key(groups.get("number", ""))), [])
            if versions:
                then = (article_id for article_id, valid_to in versions if day and day < valid_to)
                return next(then, versions[-1][0])
        return None

    def _with_id(self, act: str, key: str) -> _Versions:
        """Return the versions of the article with an id, or of that of which it names a part."""
        while key:
            anywhere = self._by_id.get((None, key)) if "/" in key else None  # an id that holds its act
            if found := self._by_id.get((act, key)) or self._by_tail.get((act, key)) or anywhere:
                return found
            shorter = _LAST_PART.sub("", key)
            key = shorter if shorter != key else ""
        return []


def act_key(act_id: str) -> str:
    """Return an identifier in comparable form, without the beginning of an address."""
    return _ADDRESS.sub("", act_id).strip("/ ")


def number_key(number: str) -> str:
    """Return a number without its word in comparable form: "Art. 12 bis" and "12bis" are one; "" if it has no digit."""
    match = re.search(r"\d.*", number)
    return article_number(match[0]) if match else ""
