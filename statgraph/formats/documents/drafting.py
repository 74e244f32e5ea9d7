"""Documents of statutes, one file an act, as articles of a corpus: what docx, md, html and txt have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from statgraph.errors import option
from statgraph.formats.documents.outline import ARTICLE, HEADING, LEFT_OUT, Line, Outline, read_outline
from statgraph.formats.law_words import LinePatterns
from statgraph.law.draft import Draft, SourceFormat

MAX_FILE_BYTES = 256 << 20
_MAX_EXPLAINED_CHARS = 120
_WRAPPED_CHARS = 120  # a file with longer lines has a paragraph on each
_FULL_LINE = 0.6  # of the longest; a shorter one ends its paragraph
_ENDS = (".", ":", ";", "!", "?", "。", "；", "：")
_MARK = re.compile(  # of a list, a table, or a section of paragraphs: "12 (1) A landlord"
    r"(?:[-*•–—]|\(?(?:\d{1,3}|[a-z]{1,3}|[IVX]+)[.)º°])\s|.* \| |\d+[a-z]{0,2} \([a-z]?1\) ", re.IGNORECASE
)
_HYPHENATED = re.compile(r"[^\W\d_]-$")
_SECOND_HALF = re.compile(r"(?!(?:und|oder|bzw|y|o|e|et|ou|en|of|and|or)\b)[a-zà-ÿ]")


class DocumentLines(NamedTuple):
    """A file as lines, blank ones between paragraphs. `title`: of the act, "" where the file does not say it;
    `is_wrapped`: whether a paragraph can be on several lines."""

    title: str
    lines: Sequence[Line]
    is_wrapped: bool = False


# From a draft, a file and its name in messages to the document; None with the problem recorded.
Read = Callable[[Draft, Path, str], DocumentLines | None]


def document_format(
    summary: str,
    suffixes: tuple[str, ...],
    read: Read,
    language: Callable[[Path], str | None] | None = None,
    *,
    is_text: bool = True,
) -> SourceFormat:
    """Return the format of documents with these suffixes, a file or a folder of them; `is_text`: they have an
    encoding."""

    def fill(draft: Draft, source: Path) -> None:
        for name, outline, is_only in _outlines(draft, source, suffixes, read):
            _draft_outline(draft, name, outline, is_only=is_only)

    def explain(draft: Draft, source: Path) -> Iterator[str]:
        for name, outline, _ in _outlines(draft, source, suffixes, read):
            yield from _explanation(name, outline)

    takes = ("code", "article_pattern", "heading_patterns", *(("encoding",) * is_text))
    return SourceFormat(summary, fill, language, takes=takes, suffixes=suffixes, explain=explain)


def _outlines(draft: Draft, source: Path, suffixes: tuple[str, ...], read: Read) -> Iterator[tuple[str, Outline, bool]]:
    """Yield (name, outline, whether it is the only one) of each document."""
    patterns = LinePatterns(draft.language, draft.reading.article_pattern, draft.reading.heading_patterns)
    files = [source]
    if source.is_dir():
        files = sorted(path for path in source.rglob("*") if path.suffix.lower() in suffixes)
        files = [path for path in files if path.is_file() and not path.name.startswith((".", "~$"))]
    if not files:
        draft.add_problem(str(source), f"holds no file that ends in {' or '.join(suffixes)}; put the statutes there")
    for path in files:
        name = path.relative_to(source).as_posix() if path != source else path.name
        if (size := path.stat().st_size) > MAX_FILE_BYTES:
            draft.add_problem(name, f"has {size >> 20:,} MiB, and at most {MAX_FILE_BYTES >> 20} are read; split it")
            continue
        document = read(draft, path, name)
        if document is not None:
            lines = unwrapped(document.lines, patterns) if document.is_wrapped else document.lines
            yield name, read_outline(lines, patterns, document.title), len(files) == 1


def _draft_outline(draft: Draft, name: str, outline: Outline, *, is_only: bool) -> None:
    stem = Path(name).stem
    code = draft.reading.code or outline.title or (draft.name if is_only else stem)
    if not outline.articles and outline.recognised:
        draft.add_problem(
            name,
            f"no line begins an article as in language '{draft.language}'; describe one "
            rf"with {option('article-pattern')}, such as '(\d+)\. (.*)' for number and rubric, "
            f"and see what is recognised with {option('explain')}",
        )
    elif not outline.articles:
        draft.add_problem(name, "holds no text; if it is a scan, its text must be recognised first")
    for article in outline.articles:
        draft.add_article(
            article.place,
            article_id=article.local_id if is_only else f"{stem}-{article.local_id}",
            title="" if article.number else f"{article.rubric}, {code}" * bool(article.rubric),
            text=article.text,
            path=(code, *article.path),
            number=article.number,
            rubric=article.rubric,
        )
    first: dict[str, str] = {}
    reasons = Counter(one.words for one in outline.recognised if one.what == LEFT_OUT)
    for one in reversed(outline.recognised):
        first[one.words] = one.line.place
    for why, count in reasons.items():
        draft.left_out.append(f"{count:,} line{'s' * (count > 1)}: {why} (first: {first[why]})")


def _explanation(name: str, outline: Outline) -> Iterator[str]:
    counts = Counter(one.what for one in outline.recognised)
    width = max((len(one.line.place) for one in outline.recognised), default=0)
    yield f"{name}: {outline.title or '(no title)'}"
    for one in outline.recognised:
        words = f"{one.words}: {' '.join(one.line.text.split())}" if one.what == LEFT_OUT else one.words
        line = f"  {one.line.place:<{width}}  {one.what:<8}  {words}"
        yield line if len(line) <= _MAX_EXPLAINED_CHARS else f"{line[: _MAX_EXPLAINED_CHARS - 3]}..."
    yield f"{counts[ARTICLE]:,} articles, {counts[HEADING]:,} headings, {counts[LEFT_OUT]:,} lines left out"


def unwrapped(lines: Iterable[Line], patterns: LinePatterns) -> list[Line]:
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
        goes_on = (
            (numbered is None or numbered.digits != last_number + 1)
            and (last.endswith("\u00ad") or (len(last) >= _FULL_LINE * width and not last.endswith(_ENDS)))
            and not _MARK.match(line.text)
            and (line.text[:1].islower() or not (_names(last, patterns) or _names(line.text, patterns)))
        )
        if goes_on and line.text:
            paragraphs[-1] = Line(paragraphs[-1].place, _joined(paragraphs[-1].text, line.text))
        elif line.text:
            paragraphs.append(line)
        last = line.text
        last_number = last_number if goes_on or numbered is None else numbered.digits
    return paragraphs


def _names(text: str, patterns: LinePatterns) -> bool:
    return patterns.article(text) is not None or patterns.heading(text) is not None


def _joined(before: str, after: str) -> str:
    """Return a line and the next one as one, a word that was divided between them whole."""
    if before.endswith("\u00ad") or (_HYPHENATED.search(before) and _SECOND_HALF.match(after)):
        return before[:-1] + after
    return f"{before} {after}"
