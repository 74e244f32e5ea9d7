"""Document expansion (doc2query, Nogueira and Lin 2019): a text with the questions that it could answer behind it."""

from __future__ import annotations

from collections.abc import Sequence


def expanded_texts(texts: Sequence[str], questions: Sequence[Sequence[str]], *, most: int) -> list[str]:
    """Return each text with its first `most` questions behind it, each on a line of its own.

    Words that a text holds already count once more: headings as questions, where the heading path stands in front of
    the text anyway, raise the weight of the nearest headings and bring in nothing new.
    """
    return ["\n".join((text, *asked[:most])) for text, asked in zip(texts, questions, strict=True)]
