"""Documents of statutes, one file an act, as articles of a corpus: what docx, md, html and txt have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from statgraph.errors import option
from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.outline import Outline, read_outline
from statgraph.formats.function_words import is_unfinished
from statgraph.formats.law_words import LinePatterns
from statgraph.law.account import Account
from statgraph.law.draft import Draft, SourceFormat

MAX_FILE_BYTES = 256 << 20
_MAX_NAMED = 3
# Files that lie beside statutes but hold no law.
_BESIDE = re.compile(r"(?i)(?:readme|licen[cs]e|notice|changelog|contributing|_index|summary)\b.*")
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
        patterns = LinePatterns(draft.language, draft.reading.article_pattern, draft.reading.heading_patterns)
        files = _files(draft, source, suffixes)
        names = _id_prefixes(files)
        without: list[tuple[str, bool]] = []  # articles: the file, and whether it holds any text
        for name, path in files.items():
            document = read(draft, path, name)
            if document is None:
                continue
            lines = paragraphs(document.lines, patterns, is_wrapped=document.is_wrapped)
            outline = read_outline(lines, patterns, document.title)
            _draft_articles(draft, outline, names[name])
            if not outline.articles:
                without.append((name, any(text for _, text in outline.parts)))
            draft.report.settle(_account(walk(draft, path, name), name, document, outline))
        _report(draft, without)

    takes = ("code", "article_pattern", "heading_patterns", *(("encoding",) * is_text))
    return SourceFormat(summary, fill, language, takes=takes, suffixes=suffixes)


def _files(draft: Draft, source: Path, suffixes: tuple[str, ...]) -> dict[str, Path]:
    """Return the documents of a source by their names in messages; where there are none, the problem is recorded."""
    files = {source.name: source}
    if source.is_dir():
        found = sorted(path for path in source.rglob("*") if path.suffix.lower() in suffixes)
        found = [path for path in found if path.is_file() and not path.name.startswith((".", "~$"))]
        files = {path.relative_to(source).as_posix(): path for path in found}
    if not files:
        draft.add_problem(str(source), f"holds no file that ends in {' or '.join(suffixes)}; put the statutes there")
    for name, path in list(files.items()):
        if (size := path.stat().st_size) > MAX_FILE_BYTES:
            draft.add_problem(name, f"has {size >> 20:,} MiB, and at most {MAX_FILE_BYTES >> 20} are read; split it")
            del files[name]
    return files


def _id_prefixes(files: Collection[str]) -> dict[str, str]:
    """Return what stands before the ids of each file's articles: nothing for the only file, else its name, with its
    folders where another has the same."""
    if len(files) == 1:
        return dict.fromkeys(files, "")
    stems = Counter(Path(name).stem for name in files)
    names = {name: name if stems[Path(name).stem] > 1 else Path(name).name for name in files}
    return {name: f"{Path(own).with_suffix('').as_posix().replace('/', '-')}-" for name, own in names.items()}


def _draft_articles(draft: Draft, outline: Outline, prefix: str) -> None:
    code = draft.reading.code or outline.title or prefix.removesuffix("-") or draft.name
    for article in outline.articles:
        draft.add_article(
            article.place,
            article_id=f"{prefix}{article.local_id}",
            title="" if article.number else f"{article.rubric}, {code}" * bool(article.rubric),
            text=article.text,
            path=(code, *article.path),
            number=article.number,
            rubric=article.rubric,
        )
    for place, path in outline.headings:
        draft.report.recognise(place, "heading", " > ".join(path))


def _account(walked: Iterable[tuple[str, str]], name: str, document: DocumentLines, outline: Outline) -> Account:
    """Return what became of all that stands in a document. Without an article it is lost, unless its name says that it
    holds no law, such as a README."""
    account = Account()
    is_beside = _BESIDE.match(Path(name).name) is not None
    for place, text in walked:
        account.read(place, text)
        if is_beside and not outline.articles:
            account.leave_out("files without articles", text)
    for rule, text in (*document.left_out, *(outline.parts if outline.articles else ())):
        account.leave_out(rule, text)
    return account


def _report(draft: Draft, without: Sequence[tuple[str, bool]]) -> None:
    """Say which files hold no articles: a problem if no file does."""
    if draft.article_ids and without:
        named = ", ".join(name for name, _ in without[:_MAX_NAMED]) + ", ..." * (len(without) > _MAX_NAMED)
        draft.left_out.append(f"{len(without):,} file{'s' * (len(without) > 1)} without articles: {named}")
        return
    for name, has_text in without:
        if has_text:
            draft.add_problem(
                name,
                f"no line begins an article as in language '{draft.language}'; describe one "
                rf"with {option('article-pattern')}, such as '(\d+)\. (.*)' for number and rubric, "
                f"and see what is recognised with {option('explain')}",
            )
        else:
            draft.add_problem(name, "holds no text; if it is a scan, its text must be recognised first")


def paragraphs(lines: Iterable[Line], patterns: LinePatterns, *, is_wrapped: bool) -> list[Line]:
    """Return lines with those that go on the one above joined to it: behind a soft break, or in a text that is wrapped
    at a margin one that fills its line. A blank line ends a paragraph, and so does a line that begins a list item,
    heading or article, or with the number after the last that began one."""
    lines = [replace(line, text=line.text.strip()) for line in lines]
    width = max((len(line.text) for line in lines), default=0)
    is_wrapped = is_wrapped and width <= _WRAPPED_CHARS
    joined: list[Line] = []
    last = ""  # the line before, "" where a paragraph ended
    numbers, last_number = patterns.bare_numbers(), 0
    for line in lines:
        numbered = numbers.article(line.text) if numbers else None
        is_full = last.endswith("\u00ad") or (len(last) >= _FULL_LINE * width and not last.endswith(_ENDS))
        goes_on = (line.goes_on or (is_wrapped and is_full)) and (
            is_unfinished(last, patterns.language)
            or (
                (numbered is None or numbered.digits != last_number + 1)
                and not _MARK.match(line.text)
                and (line.text[:1].islower() or not (_names(last, patterns) or _names(line.text, patterns)))
            )
        )
        if goes_on and line.text:
            joined[-1] = _longer(joined[-1], line.text)
        elif line.text:
            joined.append(line)
        last = line.text
        last_number = last_number if goes_on or numbered is None else numbered.digits
    return joined


def _names(text: str, patterns: LinePatterns) -> bool:
    return patterns.article(text) is not None or patterns.heading(text) is not None


def _longer(line: Line, after: str) -> Line:
    """Return a line and the next one as one, a word that was divided between them whole."""
    before = line.text
    if before.endswith("\u00ad") or (_HYPHENATED.search(before) and _SECOND_HALF.match(after)):
        return Line(line.place, before[:-1] + after, line.level)
    return Line(line.place, f"{before} {after}", line.level)
