"""Where the references of official XML lead: to an article of the same corpus, or elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from statgraph.law.citations.numbers import article_number

_LAST_PART = re.compile(r"(?:/|__)(?:(?!/|__).)*$")  # of an id: "art_70__para_2" is in "art_70"
_ADDRESS = re.compile(r"^https?://(?:www\.)?")


@dataclass(slots=True)
class _Places:
    """The articles of one act by local id, by the last part of that, and by number; an article is its versions' ids."""

    by_id: dict[str, list[ArticleVersion]] = field(default_factory=dict)
    by_tail: dict[str, list[ArticleVersion]] = field(default_factory=dict)
    by_number: dict[str, list[ArticleVersion]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ArticleVersion:
    """An article of the corpus and when it is in force, as ISO dates or ""."""

    article_id: str
    valid_from: str = ""
    valid_to: str = ""


class ReferenceIndex:
    """Finds the articles that targets point to, once every article is added."""

    def __init__(self) -> None:
        self._acts: dict[str, _Places] = {}
        self._everywhere: dict[str, list[ArticleVersion]] = {}

    def add(self, act_id: str, local_id: str, number: str, versions: list[ArticleVersion]) -> None:
        """Add an article with its versions, oldest first. Of two with one number, that which comes first has it."""
        places = self._acts.setdefault(act_key(act_id), _Places())
        key = act_key(local_id)
        places.by_id.setdefault(key, versions)
        self._everywhere.setdefault(key, versions)
        tail = key.rpartition("__")[2]
        if places.by_tail.setdefault(tail, versions) is not versions:
            places.by_tail[tail] = []  # it names two
        digits = number_key(number)
        if digits:
            places.by_number.setdefault(digits, versions)

    def find(self, target: str, act_id: str, patterns: Iterable[re.Pattern[str]], day: str = "") -> str | None:
        """Return the id of the article that a target points to, None for what is not in the corpus.

        Args:
            target: as the file has it.
            act_id: of the citing article.
            patterns: of the profile: their groups say what of the target is the act, an article's id or its number.
            day: from which the citing article is in force, to choose among versions.
        """
        for pattern in patterns:
            match = pattern.search(target)
            if match is None:
                continue
            groups = {name: unquote(found or "") for name, found in match.groupdict().items()}
            places = self._acts.get(act_key(groups.get("act") or act_id))
            versions: list[ArticleVersion] = []
            if groups.get("article"):
                versions = self._by_id(act_key(groups["article"]), places)
            if not versions and groups.get("number") and places:
                versions = places.by_number.get(number_key(groups["number"]), [])
            if versions:
                then = (version for version in versions if day and day < version.valid_to)
                return next(then, versions[-1]).article_id
        return None

    def _by_id(self, key: str, places: _Places | None) -> list[ArticleVersion]:
        """Return the versions of the article with an id, or of that of which it names a part."""
        while key:
            for known in (places.by_id, places.by_tail) if places else ():
                if known.get(key):
                    return known[key]
            if key in self._everywhere and "/" in key:  # an id that holds its act
                return self._everywhere[key]
            shorter = _LAST_PART.sub("", key)
            if shorter == key:
                break
            key = shorter
        return []


def act_key(act_id: str) -> str:
    """Return an identifier in comparable form, without the beginning of an address."""
    return _ADDRESS.sub("", act_id).strip("/ ")


def number_key(number: str) -> str:
    """Return a number without its word in comparable form: "Art. 12 bis" and "12bis" are one; "" if it has no digit."""
    match = re.search(r"\d.*", number)
    return article_number(match[0]) if match else ""
