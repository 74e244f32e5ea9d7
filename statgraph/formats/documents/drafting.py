"""Documents of statutes, one file an act, as articles of a corpus: what docx, md, html and txt have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from statgraph.errors import option
from statgraph.formats.documents.outline import ARTICLE, HEADING, Line, Outline, read_outline
from statgraph.formats.law_words import LinePatterns
from statgraph.law.account import Account
from statgraph.law.draft import Draft, SourceFormat

MAX_FILE_BYTES = 256 << 20
_WRAPPED_CHARS = 120  # a file with longer lines has a paragraph on each
_FULL_LINE = 0.6  # of the longest; a shorter one ends its paragraph
_ENDS = (".", ":", ";", "!", "?", "。", "；", "：")
_MARK = re.compile(  # of a list, a table, or a section of paragraphs: "12 (1) A landlord"
    r"(?:[-*•–—]|\(?(?:\d{1,3}|[a-z]{1,3}|[IVX]+)[.)º°])\s|.* \| |\d+[a-z]{0,2} \([a-z]?1\) ", re.IGNORECASE
)
_HYPHENATED = re.compile(r"[^\W\d_]-$")
_SECOND_HALF = re.compile(r"(?!(?:und|oder|bzw|y|o|e|et|ou|en|of|and|or)\b)[a-zà-ÿ]")


class DocumentLines(NamedTuple):
    """A file as lines, blank ones between paragraphs.

    Attributes:
        title: of the act, "" where the file does not say it.
        lines: in their order.
        is_wrapped: whether a paragraph can be on several lines.
        left_out: what the reader leaves out, as (rule, text): ("navigation", "Home").
    """

    title: str
    lines: Sequence[Line]
    is_wrapped: bool = False
    left_out: Sequence[tuple[str, str]] = ()


# From a draft, a file and its name in messages to the document; None with the problem recorded.
Read = Callable[[Draft, Path, str], DocumentLines | None]
# From a draft, a file and its name to (place, text) of all that stands in the file, whatever it is: what the account of
# the document is held against, so it shares nothing with the reader.
Walk = Callable[[Draft, Path, str], Iterable[tuple[str, str]]]


def document_format(
    summary: str,
    suffixes: tuple[str, ...],
    read: Read,
    walk: Walk,
    language: Callable[[Path], str | None] | None = None,
    *,
    is_text: bool = True,
) -> SourceFormat:
    """Return the format of documents with these suffixes, a file or a folder of them; `is_text`: they have an
    encoding."""

    def fill(draft: Draft, source: Path) -> None:
        for path, name, document, outline, is_only in _outlines(draft, source, suffixes, read):
            _draft_outline(draft, name, outline, is_only=is_only)
            draft.settle(_account(draft, walk(draft, path, name), document, outline))

    takes = ("code", "article_pattern", "heading_patterns", *(("encoding",) * is_text))
    return SourceFormat(summary, fill, language, takes=takes, suffixes=suffixes)


def _outlines(
    draft: Draft, source: Path, suffixes: tuple[str, ...], read: Read
) -> Iterator[tuple[Path, str, DocumentLines, Outline, bool]]:
    """Yield (path, name, lines, outline, whether it is the only one) of each document."""
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
            yield path, name, document, read_outline(lines, patterns, document.title), len(files) == 1


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


def _account(draft: Draft, walked: Iterable[tuple[str, str]], document: DocumentLines, outline: Outline) -> Account:
    """Return what became of all that stands in a document."""
    account = Account()
    for place, text in walked:
        account.read(place, text)
    account.keep(document.title)
    for rule, text in document.left_out:
        account.leave_out(rule, text)
    articles = iter(outline.articles)
    for one in outline.recognised:
        if one.what == ARTICLE:
            article = next(articles)
            account.keep(article.number, article.rubric, article.text)
        elif one.what == HEADING:
            account.keep(one.line.text)
            draft.recognise(one.line.place, HEADING, one.words)
        else:
            account.leave_out(one.words, one.line.text)
    return account


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
