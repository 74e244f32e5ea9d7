"""Import of a source in any of the formats as a corpus."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from pathlib import Path

from statgraph.corpus.draft import Draft, Reading
from statgraph.corpus.records import Corpus
from statgraph.corpus.splitting import HASH
from statgraph.corpus.store import read_manifest
from statgraph.errors import CorpusError, UsageError
from statgraph.registry import FORMATS

TABLES = ("jsonl", "csv")  # whose encoding and columns are the user's


@dataclass(frozen=True)
class About:
    """What a corpus says of itself. None stands for what the `manifest.json` of its source says, if it has one; else
    the name is that of the source, the language that of the format, the licence "unknown"."""

    name: str | None = None
    language: str | None = None
    licence: str | None = None
    source: str | None = None


def import_corpus(format_name: str, source: Path, about: About = About(), *, splits: str = HASH) -> Corpus:
    """Return the corpus that a source contains; the arguments and errors are those of `draft_source`.

    Raises:
        CorpusError: also if the source is inconsistent; every problem is listed.
    """
    return draft_source(format_name, source, about, splits=splits).corpus()


def draft_source(
    format_name: str, source: Path, about: About = About(), *, splits: str = HASH, reading: Reading | None = None
) -> Draft:
    """Return a draft of everything in a source, its problems recorded but not raised yet.

    `splits` says how questions without a split get one.

    Raises:
        UsageError: if the format, the encoding or the language of the statutes is unknown, or the format is not one
            whose encoding and columns can be chosen.
        CorpusError: if the source is missing, or its `manifest.json` is broken.
    """
    source = Path(source)
    source_format = FORMATS.load(format_name)
    reading = _checked(reading or Reading(), format_name)
    try:
        if not source.exists():
            raise CorpusError(f"{source}: no such file or folder; name the statutes to import")
        manifest = read_manifest(source) if source.is_dir() else {}
        said = {key: value for key, value in manifest.items() if isinstance(value, str)}
        file_name = source.resolve().name
        known = {
            "name": about.name or said.get("name") or (source.stem if source.is_file() else file_name),
            "language": about.language or said.get("language") or source_format.language_of(source),
            "licence": about.licence or said.get("licence") or "unknown",
            "source": about.source or said.get("source") or f"{file_name} ({format_name})",
        }
        if known["language"] is None:
            raise UsageError(f"{source}: the language of its statutes is unknown; name it, such as '--language fr'")
        draft = Draft(**{key: _printable(value) for key, value in known.items()}, splits=splits, reading=reading)
        source_format.fill(draft, source)
        for column in draft.columns_missed:
            draft.add_problem(str(source), f"no column '{column}' in any table; name one of them with --column")
    except OSError as error:
        raise CorpusError(
            f"{error.filename or source}: cannot be read ({error.strerror}); check its permissions"
        ) from None
    return draft


def _checked(reading: Reading, format_name: str) -> Reading:
    """Return how to read a source, with the encoding's usual name."""
    try:
        encoding = codecs.lookup(reading.encoding).name
        "".encode(encoding)
    except LookupError:
        raise UsageError(
            f"--encoding {reading.encoding}: unknown; name one that Python knows, such as cp1252"
        ) from None
    if format_name not in TABLES and (encoding != "utf-8" or reading.columns or reading.code):
        raise UsageError(
            f"--encoding, --column and --code: only for {' and '.join(TABLES)}, not {format_name}; omit them"
        )
    return replace(reading, encoding=encoding)


def _printable(value: str) -> str:
    """Return a name with a "?" for each byte of a file name that is not UTF-8, so that it can be written."""
    return value.encode("utf-8", errors="replace").decode("utf-8")
