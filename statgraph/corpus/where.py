"""The conditions on what is known of an article, its columns, under which a search may find it."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Where:
    """Which articles a search may find: those that meet every condition given.

    Attributes:
        codes: titles of codes, of which an article is in one; none for all.
        heading: the path of a heading, its titles from the code down, that an article is under; none for all.
        day: an ordinal, as `date.toordinal` counts, on which an article is in force; None for whatever day.
        ids: the article ids to search; None for all.
    """

    codes: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    day: int | None = None
    ids: tuple[str, ...] | None = None

    def __and__(self, other: Where) -> Where | None:
        """Return both conditions as one, or None if both say something of the same column."""
        ours, theirs = self._given(), other._given()
        return None if ours.keys() & theirs.keys() else Where(**ours, **theirs)

    def _given(self) -> dict[str, object]:
        return {item.name: value for item in fields(self) if (value := getattr(self, item.name)) != item.default}


ANYWHERE = Where()
