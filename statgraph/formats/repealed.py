"""Texts of articles that say no more than that the article is repealed: "(weggefallen)", "[Repealed by Act 5]"."""

from __future__ import annotations

import re
from pathlib import Path

from statgraph import artifacts

_WORDS = "|".join(
    word for row in artifacts.read_table(Path(__file__).with_suffix(".tsv")) for word in row["words"].split(", ")
)
_AROUND = "()[]<>*_–—-.…:;,'\"“”«»„ "
_IN_BRACKETS = re.compile(r"[*_]*[(\[](?:[^()\[\]]|\([^()]*\))*[)\]][*_.]*")
_LONGEST = 200  # of what in brackets says by what it is repealed
_REPEALED, _BEGINS = re.compile(_WORDS), re.compile(rf"(?:{_WORDS})\b")


def is_repealed(text: str) -> bool:
    """Return whether a text says no more than that its article is repealed."""
    text = text.strip()
    if len(text) > _LONGEST:
        return False
    text = " ".join(text.split())
    plain = text.strip(_AROUND).casefold()
    if _REPEALED.fullmatch(plain):
        return True
    return _IN_BRACKETS.fullmatch(text) is not None and _BEGINS.match(plain) is not None
