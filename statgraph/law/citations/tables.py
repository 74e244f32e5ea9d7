"""The words of references in each language: the tables in `languages/`, and those of the user.

A new language is a new table with the keys of `languages/en.yaml`, or of `zh.yaml` where numbers stand before the word
for an article.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from statgraph.errors import UsageError, reason_of

VARIABLE = "STATGRAPH_CITATIONS"

Table = Mapping[str, Any]

_WORDS = (
    *("article", "section", "section_short", "section_aloud", "several", "inner", "inner_section", "number_sign"),
    *("marks", "from", "and", "to", "not_added", "part", "parts", "subparts", "part_behind", "ordinals", "tens"),
    *("more_ordinals", "single", "following", "division", "of", "own", "same", "thereof", "code_nouns", "laws"),
    *("laws_last", "title_last", "bare", "volume", "amending", "adjectives", "small", "title_small", "not_in_name"),
    *("abbreviations", "endings", "declined", "branch"),
)
_KINDS = {  # what each key holds
    **dict.fromkeys(("before_number", "state"), "a word"),
    **dict.fromkeys(("others", "collections"), "a list of lists of words"),
    **dict.fromkeys(("digits", "units"), "signs with numbers"),
    **dict.fromkeys(_WORDS, "a list of words"),
}
_NUMBER_FIRST = ("branch", "digits", "units", "and", "to", "part", "own", "same", "laws_last")
_REQUIRES = {"before_number": _NUMBER_FIRST, "endings": ("declined",), "volume": ("collections",)}


@cache
def tables() -> dict[str, Table]:
    """Return the table of every language, by the name of its file; every value in it is a string.

    A file that $STATGRAPH_CITATIONS names, or one of several with the separator of PATH between them, takes the place
    of the table of the same name.

    Raises:
        UsageError: if a file cannot be read, or is no such table.
    """
    folder = files("statgraph.law.citations") / "languages"
    built_in = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    own = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    return {file.name.removesuffix(".yaml"): read_table(file) for file in (*built_in, *own)}


def read_table(file: Traversable) -> Table:
    """Return the table of a language.

    Raises:
        UsageError: if the file cannot be read, or is no such table.
    """
    try:
        # YAML takes `no` and `y` for truth values; the base loader takes everything for text.
        table = yaml.load(file.read_text("utf-8"), yaml.BaseLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{file}: cannot be read ({reason_of(error)}); correct it, or ${VARIABLE}") from None
    if not isinstance(table, dict) or not table.get("article"):
        raise UsageError(f"{file}: no words for an article; write 'article: [...]', as docs/languages.md has it")
    for key, value in table.items():
        _check(file, key, value)
    for key, others in _REQUIRES.items():
        missing = [other for other in others if other not in table]
        if key in table and missing:
            raise UsageError(f"{file}: {key} needs {', '.join(missing)}; add them, or [] where there are no words")
    return table


def _check(file: Traversable, key: str, value: Any) -> None:
    """Refuse a key that is not known, or whose value is of another kind."""
    if key not in _KINDS:
        near = get_close_matches(key, _KINDS, 1)
        hint = f"write '{near[0]}'" if near else f"write one of {', '.join(_KINDS)}"
        raise UsageError(f"{file}: unknown key '{key}'; {hint}")
    if not _is_of_kind(_KINDS[key], value):
        raise UsageError(f"{file}: {key} is not {_KINDS[key]}; correct it")


def _is_of_kind(kind: str, value: Any) -> bool:
    if kind == "a word":
        return isinstance(value, str) and bool(value.strip())
    if kind == "signs with numbers":
        return isinstance(value, dict) and all(str(one).isdecimal() for one in value.values())
    one = "a list of words" if kind == "a list of lists of words" else "a word"
    return isinstance(value, list) and all(_is_of_kind(one, item) for item in value)


def words_under(table: Table, key: str) -> list[str]:
    """Return the words that a table has under a key, in groups or not."""
    return [word for value in table.get(key, ()) for word in ([value] if isinstance(value, str) else value)]
