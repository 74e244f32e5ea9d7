"""Texts of articles that say no more than that the article is repealed: "(weggefallen)", "[Repealed by Act 5]"."""

from __future__ import annotations

import re
from pathlib import Path

from statgraph import artifacts

_WORDS = "|".join(
    word for row in artifacts.read_table(Path(__file__).with_suffix(".tsv")) for word in row["words"].split(", ")
)
_AROUND = "()[]（）<>*_–—-.…:;,'\"“”«»„ "
_IN_BRACKETS = re.compile(r"[*_]*[(\[（](?:[^()\[\]]|\([^()]*\))*[)\]）][*_.]*")
_BY = r"(?:durch|by|por|par|da|dall\w+|genom|bij|przez|pela|pelo|l:lla|lailla)\b.+"
_LONGEST = 200  # of what says by what it is repealed
_REPEALED, _BEGINS = re.compile(rf"(?:{_WORDS})(?: {_BY})?"), re.compile(rf"(?:{_WORDS})\b")


def is_repealed(text: str) -> bool:
    """Return whether a text is blank or says no more than that its article is repealed."""
    if len(text.strip()) > _LONGEST:
        return False
    text = " ".join(text.split())
    plain = text.strip(_AROUND).casefold()
    if not plain or _REPEALED.fullmatch(plain):
        return True
    return _IN_BRACKETS.fullmatch(text) is not None and _BEGINS.match(plain) is not None
