"""`make lint`: phrases that read as translated, and prose of pages that reads as a laboratory notebook; each place is
listed with what to write instead.

    python -m tests.words [FILE ...]

Without files: the pages of docs/ that people write, those beside README.md, and the code of statgraph/,
tools/ and benchmarks/ with its docstrings, comments, names and messages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

REPO = Path(__file__).parents[1]
# Written by commands; statgraph/ is where to correct them.
GENERATED = ("cli.md", "fidelity.md", "official-files.md", "tables.md")
MAX_WORDS, MAX_FIGURES = 30, 6  # of a sentence of a page
# What is no prose: blocks of code, what a command writes, rows of tables, code within a line, targets of links.
_NO_PROSE = re.compile(r"^```.*?^```|<!-- (\w+): begin -->.*?<!-- \1: end -->|^\|[^\n]*$", re.MULTILINE | re.DOTALL)
_CODE, _LINKED = re.compile(r"`[^`]*`"), re.compile(r"\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\([^)]*\)")
_COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_FIGURE = re.compile(r"(?<![\w-])\d[\d,.]*")
# Phrase -> what to write instead.
WORDS = {
    r"\btold\b|\btells? (?:them|it) apart\b": "is reported, is shown",
    r"\b(?:tells?|told|telling) apart\b": "distinguishes, separates",
    r"\banew\b": "again",
    r"\bas (?:it|they) comes?\b": "pretrained, unchanged",
    r"\bthat (?:is|are) none\b|\bof none\b": "without, invalid, empty",
    r"\bfor ever\b": "indefinitely",
    r"\bstands? there\b": "is there",
    r"\bsays? so\b": "warns, reports it",
    r"\blikewise\b": "also, the same",
    r"\bgives? place to\b": "is replaced by",
    r"\bto be had\b": "available",
    r"\bwhat is (?:to be|asked)\b": "name the thing",
    r"\bbut that\b": "except that",
    r"\bwhat tells\b": "what distinguishes",
    r"\b(?:on_dev|but_test|of_same_law|of_question|of_fold)\b": "a word of docs/glossary.md",
    r"\bfewest\b": "minimum",
    r"\bof its own accord\b|\bby and by\b|\bere\b": "automatically, gradually, before",
}


def written_files() -> list[Path]:
    """Return the pages and the code that people write."""
    pages = [page for page in sorted((REPO / "docs").glob("*.md")) if page.name not in GENERATED]
    folders = [REPO / name for name in ("statgraph", "tools", "benchmarks")]
    code = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [*pages, *sorted(REPO.glob("*.md")), *code]


def offences(text: str) -> list[tuple[int, str, str]]:
    """Return (line, phrase, what to write instead) for each phrase in a text outside fenced blocks."""
    blank = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    places = []
    for pattern, instead in WORDS.items():
        for match in re.finditer(pattern, blank, re.IGNORECASE):
            places.append((blank.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead))
    return sorted(places)


def prose_offences(text: str) -> list[tuple[int, str, str]]:
    """Return the same of a page's sentences: ids of commits, too many words, too many figures. What a link says counts
    as one word, and its figures do not count."""
    prose = _NO_PROSE.sub(lambda block: "\n" * block[0].count("\n"), text)
    prose = _CODE.sub("x", _LINKED.sub("link", prose))
    places = []
    for block in re.finditer(r"(?:(?!^\s*(?:[-*]|\d+\.) )[^\n]*\S[^\n]*\n?)+|^[^\n]*\S[^\n]*\n?", prose, re.MULTILINE):
        line = prose.count("\n", 0, block.start()) + 1
        for sentence in re.split(r"(?<=[.!?:;])\s+", " ".join(block[0].split())):
            start = " ".join(sentence.split()[:6]) + " ..."
            if commit := _COMMIT.search(sentence):
                places.append((line, commit[0], "no ids of commits in prose"))
            if len(sentence.split()) > MAX_WORDS:
                places.append((line, start, f"sentences of at most {MAX_WORDS} words"))
            if len(_FIGURE.findall(sentence)) > MAX_FIGURES:
                places.append((line, start, f"a table for more than {MAX_FIGURES} figures"))
    return places


def main(names: list[str]) -> int:
    """Print every offending place; return 1 if there is one."""
    lines = [
        f"{path.relative_to(REPO) if path.is_relative_to(REPO) else path}:{line}: '{phrase}'; write: {instead}"
        for path in [Path(name).resolve() for name in names] or written_files()
        for text in [path.read_text(encoding="utf-8")]
        for line, phrase, instead in [*offences(text), *(prose_offences(text) if path.suffix == ".md" else ())]
    ]
    print("\n".join(lines) if lines else "Words are fine.")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
