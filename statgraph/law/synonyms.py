"""The user's `synonyms.txt`: words that mean the same, a line each, saved with every run of the corpus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from statgraph.artifacts import reading, replaced_file
from statgraph.errors import RunError

_ONE_WAY = "=>"
_A_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Synonyms:
    """A line: whoever asks for one of `words`, each a word or several, may mean any of `meanings`."""

    words: tuple[str, ...]
    meanings: tuple[str, ...]


def parse_synonyms(text: str, name: str) -> tuple[list[Synonyms], list[tuple[str, str]]]:
    """Return the lines of a file of synonyms, and (NAME:LINE, problem) for each invalid line.

    `a, b` are words that mean the same; `a => b, c` searches for b and c too where a is asked for, and not the other
    way. What follows a # is a comment.
    """
    lines, problems = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        sides = [tuple(word.strip() for word in side.split(",")) for side in content.split(_ONE_WAY)]
        words, meanings = sides[0], sides[-1]
        if len(sides) > 2:
            problem = f"'{_ONE_WAY}' occurs twice; write one line for each"
        elif not all(_A_WORD.search(word) for side in sides for word in side):
            problem = f"no word before, between or after a comma or '{_ONE_WAY}'; remove it"
        elif len({*words, *meanings}) < 2:
            problem = f"'{content}' has no other word; write 'word, synonym' or 'word {_ONE_WAY} synonym'"
        else:
            lines.append(Synonyms(words, meanings))
            continue
        problems.append((f"{name}:{number}", problem))
    return lines, problems


def write_synonyms(text: str, path: Path) -> None:
    """Save a corpus's synonyms with a run; those that the run has stay where there are none."""
    if text:
        with replaced_file(path) as staging:
            staging.write_text(text, encoding="utf-8")


def saved_text(path: Path) -> str:
    """Return the synonyms saved with a run as text, "" where it has no such file.

    Raises:
        RunError: if the file, edited since, cannot be read.
    """
    with reading(path, "write it as UTF-8 text, or remove it"):
        return path.read_text(encoding="utf-8-sig") if path.is_file() else ""


def read_synonyms(path: Path) -> list[Synonyms]:
    """Return the synonyms saved with a run.

    Raises:
        RunError: as in `saved_text`, and if lines are invalid; each is listed.
    """
    lines, problems = parse_synonyms(saved_text(path), str(path))
    if problems:
        raise RunError("\n".join(f"{place}: {problem}" for place, problem in problems))
    return lines
