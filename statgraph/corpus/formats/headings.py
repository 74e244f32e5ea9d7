"""A table of headings, each naming the one above it, turned into whole paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from statgraph.corpus.draft import Draft
from statgraph.corpus.fields import UNREADABLE

MAX_LISTED_CYCLE = 8


@dataclass(frozen=True, slots=True)
class HeadingRow:
    """One heading as its source gives it; `parent_id` is "" for a code."""

    place: str
    heading_id: str
    title: str
    parent_id: str


def heading_paths(draft: Draft, rows: Iterable[HeadingRow]) -> dict[str, tuple[str, ...]]:
    """Return the path of each heading id: the titles from the code down to its own.

    Two headings of one title under one parent have one path and become one heading. A repeated or missing id, an empty
    title, a parent that does not exist and a heading that is its own ancestor become problems of the draft.
    """
    headings = _unique_headings(draft, rows)
    paths: dict[str, tuple[str, ...]] = {}
    for heading_id in headings:
        chain: dict[str, None] = {}  # the ids from this heading upwards, in that order
        above = heading_id
        while above in headings and above not in paths and above not in chain:
            chain[above] = None
            above = headings[above].parent_id
        if above in chain:
            _add_cycle(draft, headings, list(chain)[list(chain).index(above) :])
        elif above and above not in headings:
            lowest = headings[next(reversed(chain))]
            draft.add_problem(
                lowest.place,
                f"heading '{lowest.heading_id}' has the parent '{above}', which does not exist; "
                "add that heading or leave the parent empty",
            )
        path = paths.get(above, ()) if not above or above in paths else (UNREADABLE,)
        for below in reversed(chain):
            path = (*path, headings[below].title)
            paths[below] = path
    return paths


def _unique_headings(draft: Draft, rows: Iterable[HeadingRow]) -> dict[str, HeadingRow]:
    headings: dict[str, HeadingRow] = {}
    for row in rows:
        if not row.heading_id:
            draft.add_problem(row.place, "heading has no id; give every heading a unique 'id'")
        elif row.heading_id in headings:
            first_line = headings[row.heading_id].place.rpartition(":")[2]
            draft.add_problem(
                row.place,
                f"heading id '{row.heading_id}' appears twice (first on line {first_line}); ids must be unique",
            )
        else:
            headings[row.heading_id] = row if row.title else replace(row, title=UNREADABLE)
            if not row.title:
                draft.add_problem(
                    row.place, f"heading '{row.heading_id}' has an empty title; fill it or remove the heading"
                )
    return headings


def _add_cycle(draft: Draft, headings: Mapping[str, HeadingRow], cycle: list[str]) -> None:
    rank = {heading_id: rank for rank, heading_id in enumerate(headings)}
    start = cycle.index(min(cycle, key=rank.__getitem__))
    round_trip = [*cycle[start:], *cycle[: start + 1]]
    if len(round_trip) > MAX_LISTED_CYCLE:
        round_trip = [*round_trip[: MAX_LISTED_CYCLE - 2], "...", round_trip[-1]]
    row = headings[cycle[start]]
    draft.add_problem(
        row.place,
        f"heading '{row.heading_id}' is its own ancestor ({' under '.join(round_trip)}); "
        "correct one of these parents so that the headings form a tree",
    )
