"""Texts that say of an article only that it is no longer there: "(weggefallen)", "[Repealed, 2014, c. 20]", "* * *"."""

from __future__ import annotations

import re
from pathlib import Path

from statgraph import artifacts

_WORDS = "|".join(row["words"].replace(", ", "|") for row in artifacts.read_table(Path(__file__).with_suffix(".tsv")))
# Behind the word stands by what, or in brackets anything: "Repealed by Act 5.", "[Repealed, 2014, c. 20]".
_BY = r"(?:durch|by|por|par|da|dall\w+|genom|bij|przez|pela|pelo)\b.{1,100}"
_REPEALED = re.compile(rf"\W*(?:{_WORDS})(?:\W*| {_BY})|[\[(（](?:{_WORDS})\b[^\[\]]{{0,120}}[\])）]\W*", re.IGNORECASE)
_STARS = re.compile(r"[\s\[(]*(?:[*.…·_–—-]\s*){3,}[\s\])]*")


def is_repealed(text: str) -> bool:
    """Return whether a whole text says nothing but that the article is repealed, omitted or reserved."""
    return bool(_REPEALED.fullmatch(text) or _STARS.fullmatch(text))
