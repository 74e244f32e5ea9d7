"""The paragraphs of lines that are cut at a margin, as plain text and Markdown have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from statgraph.formats.documents.blocks import Line
from statgraph.formats.function_words import is_unfinished
from statgraph.formats.law_words import LinePatterns

_WRAPPED_CHARS = 120  # a file with longer lines has a paragraph on each
_FULL_LINE = 0.6  # of the longest; a shorter one ends its paragraph
_ENDS = (".", ":", ";", "!", "?", "。", "；", "：")
_MARK = re.compile(  # of a list, a table, or a section of paragraphs: "12 (1) A landlord"
    r"(?:[-*•–—]|\(?(?:\d{1,3}|[a-z]{1,3}|[IVX]+)[.)º°])\s|.* \| |\d+[a-z]{0,2} \([a-z]?1\) ", re.IGNORECASE
)
_HYPHENATED = re.compile(r"[^\W\d_]-$")
_SECOND_HALF = re.compile(r"(?!(?:und|oder|bzw|y|o|e|et|ou|en|of|and|or)\b)[a-zà-ÿ]")


def soft_breaks_joined(lines: Iterable[Line], patterns: LinePatterns) -> list[Line]:
    """Return lines with those that go on the one above joined to it. A line that begins an article or heading behind a
    finished one stays, unless articles have a style in this document."""
    lines = list(lines)
    has_style = any(line.level and patterns.article(line.text) for line in lines)
    joined: list[Line] = []
    last = ""
    for line in lines:
        if line.goes_on and joined and (has_style or not _begins(line.text, last, patterns)):
            joined[-1] = _longer(joined[-1], line.text)
        else:
            joined.append(line)
        last = line.text
    return joined


def _begins(text: str, last: str, patterns: LinePatterns) -> bool:
    """Return whether a line begins an article or heading, and is not the rest of a sentence."""
    article = patterns.article(text)
    if article is not None and article.is_marked:
        return not is_unfinished(last, patterns.language) and not last.endswith(",")
    return _names(text, patterns) and (last.endswith(_ENDS) or _names(last, patterns))


def unwrapped(lines: Sequence[Line], patterns: LinePatterns) -> list[Line]:
    """Return the paragraphs of lines that are cut at a margin; a blank line ends one, and so does a line that begins a
    list item, heading or article, or with the number after the last that began one."""
    lines = [Line(line.place, line.text.strip(), line.level) for line in lines]
    width = max((len(line.text) for line in lines), default=0)
    if width > _WRAPPED_CHARS:
        return [line for line in lines if line.text]
    paragraphs: list[Line] = []
    last = ""  # the line before, "" where a paragraph ended
    numbers, last_number = patterns.bare_numbers(), 0
    for line in lines:
        numbered = numbers.article(line.text) if numbers else None
        is_full = last.endswith("\u00ad") or (len(last) >= _FULL_LINE * width and not last.endswith(_ENDS))
        goes_on = is_full and (
            is_unfinished(last, patterns.language)
            or (
                (numbered is None or numbered.digits != last_number + 1)
                and not _MARK.match(line.text)
                and (line.text[:1].islower() or not (_names(last, patterns) or _names(line.text, patterns)))
            )
        )
        if goes_on and line.text:
            paragraphs[-1] = _longer(paragraphs[-1], line.text)
        elif line.text:
            paragraphs.append(line)
        last = line.text
        last_number = last_number if goes_on or numbered is None else numbered.digits
    return paragraphs


def _names(text: str, patterns: LinePatterns) -> bool:
    return patterns.article(text) is not None or patterns.heading(text) is not None


def _longer(line: Line, after: str) -> Line:
    """Return a line and the next one as one, a word that was divided between them whole."""
    before = line.text
    if before.endswith("\u00ad") or (_HYPHENATED.search(before) and _SECOND_HALF.match(after)):
        return Line(line.place, before[:-1] + after, line.level)
    return Line(line.place, f"{before} {after}", line.level)
