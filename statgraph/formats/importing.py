"""Import of a source in any of the formats, or of rows in memory, as a corpus; files of questions to search for."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from statgraph.errors import CorpusError, Text, UsageError, option, readable, unknown_name
from statgraph.formats.acts.documents import fetched
from statgraph.formats.doubts import doubts
from statgraph.formats.download import is_address
from statgraph.formats.recognising import check_named, check_text, recognised
from statgraph.formats.repealed import is_repealed
from statgraph.formats.tables import QUESTION_NAMES as TABLE_NAMES
from statgraph.formats.tables import draft_citing_tables, draft_rows, jsonl_records, records_of_rows
from statgraph.law.account import words_of
from statgraph.law.draft import AS_IT_STANDS, Draft, Reading, SourceFormat
from statgraph.law.fields import FieldNames, draft_question
from statgraph.law.html_text import has_html
from statgraph.law.lines import csv_fields, csv_rows, decoded_lines, in_a_file, json_objects
from statgraph.law.records import Corpus
from statgraph.law.splitting import HASH, SPLITTINGS
from statgraph.law.store import held_for_writing, read_manifest, write_corpus
from statgraph.registry import FORMATS

# Of the fields of a reading that not every format takes, the options.
OPTIONS = {
    "encoding": option("encoding"),
    "columns": option("column"),
    "code": option("code"),
    "profile": option("profile"),
    "article_pattern": option("article-pattern"),
    "heading_patterns": option("heading-pattern"),
}
_OF_QUESTIONS = ("encoding", "columns")  # which a table of questions takes beside a source of any format
QUESTION_SUFFIXES = (".csv", ".tsv", ".jsonl", ".xlsx")
OFFICIAL_XML = "xml"  # which has profiles, and can be downloaded
# Of a file of questions to search for; "question" is BSARD's.
QUESTION_NAMES = FieldNames(id=("_id", "id"), text=("text", "question"), metadata=())
_JSON_SUFFIXES = (".jsonl", ".json", ".ndjson")
_MAX_NAMED = 8
_NUMERAL = re.compile("[\\d〇一二三四五六七八九十百]|\\b[IVXLC]+\\b")


@dataclass(frozen=True)
class About:
    """What a corpus says of itself. None stands for what the `manifest.json` of its source says, if it has one; else
    the name is `otherwise` or that of the source, the language that of the format, the licence "unknown"."""

    name: str | None = None
    language: str | None = None
    licence: str | None = None
    source: str | None = None
    otherwise: str | None = None


@dataclass(frozen=True)
class Imported:
    """A corpus that was imported, and what has become of the rest of its source.

    Attributes:
        corpus: the corpus.
        resolved_citing: how many citing texts got their articles from what they say alone.
        left_out: what is no part of the corpus, a line for each kind.
        words: what became of the words of the source, a line for each kind.
        caveats: lines on what is not as it should be.
    """

    corpus: Corpus
    resolved_citing: int
    left_out: tuple[str, ...]
    words: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


def import_corpus(
    source: Path | str,
    format: str | None = None,
    *,
    name: str | None = None,
    language: str | None = None,
    licence: str | None = None,
    splits: str = HASH,
    reading: Reading = AS_IT_STANDS,
) -> Corpus:
    """Return the corpus that a source contains: what `statgraph import` writes.

        import_corpus("law.docx", language="de")
        import_corpus("law/", "csv", language="de", reading=Reading(encoding="cp1252"))

    Args:
        source: a file or folder; of xml also an archive, or an https address.
        format: jsonl, csv, xml, docx, ... as `statgraph import --help` lists them, or that of an installed package;
            None to recognise it.
        name: of the corpus; None for the source's.
        language: ISO 639 code of the statutes, such as "fr"; None for what the source says.
        licence: of the statutes; None for what the source says.
        splits: how questions without a split get one: `hash`, `by-labels` or `by-topics`.
        reading: how the files are read: their encoding and columns.

    Raises:
        UsageError: if a value has the wrong type or is unknown, or the language is neither given nor known.
        CorpusError: if the source is missing or inconsistent; every problem is listed.
    """
    about = About(name, language, licence)
    return draft_source(format, source, about, splits=splits, reading=reading).corpus()


def import_to_folder(
    source: Path | str,
    format: str,
    out: Path | str,
    about: About = About(),
    *,
    splits: str = HASH,
    reading: Reading = AS_IT_STANDS,
    force: bool = False,
) -> Imported:
    """Write the corpus that a source contains to a folder, and return it: `statgraph import`.

        import_to_folder("law/", "csv", "corpora/law", About(language="de")).left_out

    Args:
        source, format, splits, reading: as in `import_corpus`.
        out: the corpus folder.
        about: what the corpus says of itself.
        force: whether to replace a corpus that is there.

    Raises:
        UsageError: as in `import_corpus`.
        CorpusError: also if the folder holds anything, or with `force` anything but a corpus.
    """
    with held_for_writing(Path(out), replace=force):
        draft = draft_source(format, source, about, splits=splits, reading=reading)
        corpus = draft.corpus()
        doubtful = doubts(corpus.articles, corpus.language, draft.article_places, draft.report.repealed_numbers)
        write_corpus(corpus, Path(out), draft.report.balance, doubtful)
    left_out = (*_left_out(draft), *draft.left_out)
    return Imported(
        corpus,
        sum(map(bool, draft.looked_up.values())),
        left_out,
        tuple(words_of(draft.report.balance)),
        (*_caveats(corpus), *doubtful),
    )


def _caveats(corpus: Corpus) -> Iterator[str]:
    tagged = [article.article_id for article in corpus.articles if has_html(article.text)]
    if tagged:
        yield Text(
            f"articles with HTML: {len(tagged):,} (first: {tagged[0]}), which is shown and searched as it stands; add "
            f"{option('strip-html')} to import their plain text"
        )
    if corpus.articles and not any(article.number or _NUMERAL.search(article.title) for article in corpus.articles):
        yield (
            f"articles without a number: all (first: '{corpus.articles[0].title}'), so no question can name one; if "
            "these titles are the articles' own headings, call the column rubric, and give a column number"
        )


def _left_out(draft: Draft) -> Iterator[str]:
    unlabelled, unresolved = len(draft.unlabelled_questions), list(draft.looked_up.values()).count(())
    if repealed := list(draft.repealed.values()):
        count, first = len(repealed), repealed[0]
        yield f"{count:,} article{'s' * (count > 1)} without text, taken as repealed (first: {first})"
    if unlabelled:
        yield f"{unlabelled:,} question{'s' * (unlabelled > 1)} that no article answers"
    if unresolved:
        yield f"{unresolved:,} citing text{'s' * (unresolved > 1)} without an article"


def corpus_from_dicts(
    articles: Iterable[Mapping[str, object]],
    questions: Iterable[Mapping[str, object]] = (),
    *,
    language: str,
    headings: Iterable[Mapping[str, object]] = (),
    citing: Iterable[Mapping[str, object]] = (),
    splits: str = HASH,
    **about: str,
) -> Corpus:
    """Return the corpus of rows in memory, with the keys of the JSON lines that `statgraph import jsonl` reads.

        corpus_from_dicts([{"id": "1", "text": "Dogs are taxed.", "path": ["Dog Code"]}], language="en")

    Args:
        articles: `id`, `text`, `path` (the headings above it, from the code down); `number`, `rubric`, and `title`,
            the citation, which is made from number and code where it is left out.
        questions: `id`, `text`, `articles` (ids), `split`.
        language: ISO 639 code of the articles, such as "fr".
        headings: `id`, `title`, `parent`, where articles name a `heading` in place of a path.
        citing: texts that cite the law: `id`, `title`, `text`, `cites` (ids).
        splits: how questions without a split get one: `hash`, `by-labels` or `by-topics`.
        about: `name`, `licence`, `source`: what the corpus says of itself.

    Raises:
        UsageError: if an option is unknown or has the wrong type.
        CorpusError: if the rows are inconsistent; every problem is listed.
    """
    unknown = set(about) - {"name", "licence", "source"}
    if unknown:
        raise unknown_name("option", min(unknown), ("name", "licence", "source", "splits"))
    _check_types(About(language=language, **about), splits)
    if language is None:
        raise UsageError("language: not given; name that of the statutes, such as language='fr'")
    known = {name: value for name, value in about.items() if value is not None}
    draft = Draft(name=known.pop("name", "corpus"), language=language, splits=splits, **known)  # type: ignore[arg-type]
    draft_rows(draft, {"articles": articles, "headings": headings, "questions": questions, "citing": citing})
    return draft.corpus()


def _check_types(about: About, splits: str) -> None:
    wrong = [name for name, value in vars(about).items() if not isinstance(value, str | None)]
    if wrong:
        raise UsageError(f"{wrong[0]}: must be text (got {getattr(about, wrong[0])!r})")
    if splits not in SPLITTINGS:
        raise unknown_name("way to split", splits, SPLITTINGS)


def draft_source(
    format_name: str | None,
    source: Path | str,
    about: About = About(),
    *,
    splits: str = HASH,
    reading: Reading = AS_IT_STANDS,
) -> Draft:
    """Return a draft of everything in a source, its problems recorded but not raised yet.

    `splits` says how questions without a split get one. If the format is None, it is recognised.

    Raises:
        UsageError: if the format, the encoding or the language of the statutes is unknown, or the reading has what the
            format does not take.
        CorpusError: if the source is missing, its `manifest.json` is broken, or its format is not recognised.
    """
    if not isinstance(source, str | os.PathLike):
        raise UsageError(f"source: must be the path of a file or folder (got {type(source).__name__})")
    _check_types(about, splits)
    with _opened(format_name, source, about, splits, reading) as (source_format, draft, path):
        _fill(draft, source_format, path)
        if not draft.language and not draft.problem_count:
            raise _unknown_language(path)
        if not draft.problem_count:
            draft.settle_cells()
            if (losses := draft.report.losses()) and not reading.allow_lost:
                draft.add_problem(*losses)
        for column in draft.columns_missed:
            draft.add_problem(str(path), f"no column '{column}' in any table; name one of them with {option('column')}")
    return draft


def _fill(draft: Draft, source_format: SourceFormat, path: Path) -> None:
    """Fill a draft from a source, from the tables of questions and citing texts that are with documents or beside a
    file, and from the one that the reading names."""
    source_format.fill(draft, path)
    folder = path.parent if path.is_file() else None
    if path.is_dir() and {"article_pattern", "profile"} & set(source_format.takes):
        folder = path
        draft_citing_tables(draft, folder)
    beside = [] if folder is None else [folder / f"questions{suffix}" for suffix in QUESTION_SUFFIXES]
    tables = [file for file in beside if file.is_file() and file != path]
    if draft.reading.questions is not None:
        tables.append(draft.reading.questions)
    for table in dict.fromkeys(tables):
        draft_questions(draft, table)


def draft_questions(draft: Draft, path: Path) -> None:
    """Fill a draft with the questions of a table, and with their labels."""
    from statgraph.formats.documents.xlsx import sheet_rows

    suffix = path.suffix.lower()
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "no such file"
        return draft.add_problem(str(path), f"{problem}; name a table of questions and the articles that answer them")
    if suffix not in QUESTION_SUFFIXES:
        known = ", ".join(QUESTION_SUFFIXES)
        return draft.add_problem(str(path), f"ends in '{path.suffix}'; save the questions as one of {known}")
    if suffix == ".jsonl":
        records = jsonl_records(draft, path, "questions")
    else:
        rows = csv_fields(draft, path, path.name) if suffix in (".csv", ".tsv") else sheet_rows(draft, path)
        records = records_of_rows(draft, "questions", rows)
    for place, record in records:
        draft_question(draft, place, record, TABLE_NAMES)
    return None


def explained(
    format_name: str | None, source: Path | str, about: About = About(), *, reading: Reading = AS_IT_STANDS
) -> Iterator[str]:
    """Yield in lines what the importer makes of a source: the headings and articles that it recognises, where, what is
    left out by which rule, and what is lost.

    Raises:
        UsageError, CorpusError: as `draft_source` does, and for what keeps the source from being explained.
    """
    with _opened(format_name, source, about, HASH, reading) as (source_format, draft, path):
        draft.report.is_explained = True
        _fill(draft, source_format, path)
        draft.settle_cells()
        yield from draft.listed()
        yield from words_of(draft.report.balance)
        draft.check()


@contextmanager
def _opened(
    format_name: str | None, source: Path | str, about: About, splits: str, reading: Reading
) -> Iterator[tuple[SourceFormat, Draft, Path]]:
    """Give the format of a source, an empty draft that says of itself what is known, and the path: of a download, if
    the source is an address."""
    if is_address(source) and format_name not in (None, OFFICIAL_XML):
        raise UsageError(f"{source}: only {OFFICIAL_XML} is downloaded, not {format_name}; download it yourself")
    with _local(source) as (path, downloaded), readable(path):
        name = format_name or (OFFICIAL_XML if downloaded else recognised(path).format)
        source_format: SourceFormat = FORMATS.load(name)
        reading = _checked(reading, name, source_format)
        check_named(name, path)
        if not path.exists():
            raise CorpusError(f"{path}: no such file or folder; name the statutes to import")
        manifest = read_manifest(path) if path.is_dir() else {}
        said = {key: value for key, value in manifest.items() if isinstance(value, str)}
        file_name = path.resolve().name
        known = {
            "name": about.name or said.get("name") or about.otherwise or (path.stem if path.is_file() else file_name),
            "language": about.language or said.get("language") or source_format.language_of(path),
            "licence": about.licence or said.get("licence") or "unknown",
            "source": about.source or downloaded or said.get("source") or f"{file_name} ({name})",
        }
        if known["language"] is None and not source_format.learns:
            raise _unknown_language(path)
        # With a "?" for each byte of a file name that is not UTF-8, so that it can be written.
        printable = {key: (value or "").encode(errors="replace").decode() for key, value in known.items()}
        draft = Draft(**printable, splits=splits, reading=reading, is_repealed=is_repealed, counts_cells=True)
        yield source_format, draft, path


@contextmanager
def _local(source: Path | str) -> Iterator[tuple[Path, str]]:
    """Give the path of a source, downloaded if it is an address, and then its description."""
    if not is_address(source):
        with in_a_file(source) as path:
            yield path, ""
        return
    with fetched(str(source)) as (path, sha256):
        yield path, f"{source} (SHA-256 {sha256})"


def _unknown_language(source: Path) -> UsageError:
    return UsageError(f"{source}: the language of its statutes is unknown; name it, such as '{option('language')} fr'")


def _checked(reading: Reading, format_name: str, source_format: SourceFormat) -> Reading:
    """Return how to read a source, with the encoding's usual name."""
    try:
        encoding = codecs.lookup(reading.encoding).name
        "".encode(encoding)
    except LookupError:
        raise UsageError(
            f"{option('encoding')} {reading.encoding}: unknown; name one that Python knows, such as cp1252"
        ) from None
    reading = replace(reading, encoding=encoding)
    for field, name in OPTIONS.items():
        if field in _OF_QUESTIONS and reading.questions is not None:
            continue
        if getattr(reading, field) != getattr(AS_IT_STANDS, field) and field not in source_format.takes:
            takers = [taker for taker in FORMATS if field in FORMATS.load(taker).takes]
            takers += [option("questions")] * (field in _OF_QUESTIONS)
            raise UsageError(f"{name}: only for {', '.join(takers)}, not {format_name}; omit it")
    return reading


def read_question_file(path: Path) -> tuple[list[str], list[str]]:
    """Return (ids, texts) of the questions in a file; whatever else its records hold is left out.

    A file that ends in .csv or .tsv is a table with a header, one that ends in .jsonl or begins with "{" JSON lines,
    any other plain text: a question a line, whose id is the number of the line.

    Raises:
        CorpusError: if the file is missing, empty or faulty; every problem is listed.
    """
    if path.is_dir() or not path.exists():
        problem = "is a folder" if path.is_dir() else "no such file"
        raise CorpusError(f"{path}: {problem}; give a file with a question a line, or JSONL or CSV (id, text)")
    draft = Draft(name=path.name, language="en")
    with in_a_file(path) as file:
        check_text(file)
        for place, record in _records(draft, file):
            needed = (QUESTION_NAMES.id, QUESTION_NAMES.text)
            missing = [" or ".join(keys) for keys in needed if not set(keys) & set(record)]
            if missing:
                found = ", ".join(list(record)[:_MAX_NAMED]) or "nothing"
                remedy = "rename the keys that hold them"
                draft.add_problem(place, f"no {' and no '.join(missing)} (found: {found}); {remedy}")
                continue
            draft_question(draft, place, record, QUESTION_NAMES)
    questions = draft.questions()
    if not questions:
        raise CorpusError(f"{path}: holds no questions; write one a line")
    return [question_id for question_id, _ in questions], [text for _, text in questions]


def _records(draft: Draft, path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    if path.suffix.lower() in (".csv", ".tsv"):
        return csv_rows(draft, path, path.name, needed=tuple(map("|".join, (QUESTION_NAMES.id, QUESTION_NAMES.text))))
    lines = list(decoded_lines(draft, path, path.name))
    if path.suffix.lower() in _JSON_SUFFIXES or (lines and lines[0][1].lstrip().startswith("{")):
        return json_objects(draft, lines)
    return ((place, {"id": place.rpartition(":")[2], "text": line}) for place, line in lines)
