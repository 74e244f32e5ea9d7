"""The part of a long text that is shown around a passage."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Excerpt:
    """A part of a text, and where the best passage stands in that part; no passage where nothing is shared."""

    text: str
    passage: tuple[int, int] | None


def excerpt(text: str, passage: tuple[int, int] | None, *, most: int) -> Excerpt:
    """Return the whole text where it has at most `most` characters, else as many of them around the passage."""
    if len(text) <= most:
        return Excerpt(text, passage)
    if passage is None:
        return Excerpt(text[:most], None)
    start, end = passage
    begin = max(0, min((start + end - most) // 2, len(text) - most))
    return Excerpt(text[begin : begin + most], (start - begin, end - begin))
