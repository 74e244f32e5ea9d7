"""The words of a language that stand in any text of it, such as "of" and "shall", and end no title."""

from __future__ import annotations

from pathlib import Path

from statgraph import artifacts

FUNCTION_WORDS = {
    row["language"]: frozenset(row["words"].split(", "))
    for row in artifacts.read_table(Path(__file__).with_suffix(".tsv"))
}
_SAME = {"nb": "no", "nn": "no"}


def known_language(language: str) -> str:
    """Return the code under which the words of a language stand, if they do."""
    return _SAME.get(language, language)


def is_unfinished(text: str, language: str) -> bool:
    """Return whether a line ends with a word that goes on: "within the meaning of"; of a language without words,
    whether it ends with any such word."""
    last = text.rsplit(maxsplit=1)[-1:]
    words = FUNCTION_WORDS.get(known_language(language), _ALL)
    return bool(last) and last[0] in words


_ALL = frozenset().union(*FUNCTION_WORDS.values())
