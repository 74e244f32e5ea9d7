"""Which format a source is in, by its first bytes, its root element, its suffix, or the names of a folder's files."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from statgraph.errors import CorpusError, readable
from statgraph.formats.acts.documents import documents
from statgraph.formats.download import is_address
from statgraph.formats.xml import profile_of
from statgraph.registry import FORMATS

_HEAD_BYTES = 4096
_MAX_FILES = 10_000  # of a folder that are looked at
_OFFICIAL_XML, _PAGE = "xml", "html"
_CONVERT = "convert it with 'soffice --convert-to {} {}' (LibreOffice) and import that"
_TO_DOCX, _TO_XLSX = _CONVERT.format("docx", "FILE"), _CONVERT.format("xlsx", "FILE")
# What cannot be read, by suffix: the remedy.
_RECIPES = {
    ".pdf": "import the text that 'pdftotext -layout FILE' (poppler) writes, or the Markdown of 'docling FILE'",
    **dict.fromkeys((".doc", ".odt", ".rtf", ".wpd", ".pages"), _TO_DOCX),
    **dict.fromkeys((".xls", ".ods", ".xlsb", ".numbers"), _TO_XLSX),
    ".epub": "convert it with 'pandoc FILE -o FILE.md' and import that",
    ".tex": "convert it with 'pandoc FILE -o FILE.md' and import that",
    ".json": "write an object for each article on a line of its own, as .jsonl: 'jq -c .[] FILE > articles.jsonl'",
}
_BEGINNINGS = {b"%PDF": ".pdf", b"{\\rtf": ".rtf", b"\xd0\xcf\x11\xe0": ".doc"}
_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_PARTS = {"word/document.xml": "docx", "xl/workbook.xml": "xlsx"}
_MIME_TYPES = {"opendocument.text": ".odt", "opendocument.spreadsheet": ".ods", "epub": ".epub"}
_PAGE_ROOT = re.compile(rb"<(?:!doctype\s+)?html\b", re.IGNORECASE)


class RecognisedFormat(NamedTuple):
    """The format of a source, and what shows it."""

    format: str
    why: str


def recognised(source: Path | str) -> RecognisedFormat:
    """Return the format that a source is in.

    Raises:
        CorpusError: if it does not exist, cannot be read, or is in none that can be imported: with the remedy.
    """
    if is_address(source):
        return RecognisedFormat(_OFFICIAL_XML, "an address")
    path = Path(source)
    with readable(path):
        if not path.exists():
            raise CorpusError(f"{path}: no such file or folder; name the statutes to import")
        return _of_folder(path) if path.is_dir() else _of_file(path)


def check_named(name: str, source: Path) -> None:
    """Refuse a file of tables or texts that is an office document, an archive or official XML, but was named as
    something else.

    Raises:
        CorpusError: with the command that reads it, or what makes it readable.
    """
    named = FORMATS.load(name)
    if not source.is_file() or not (named.suffixes or named.files):
        return
    is_text = "encoding" in named.takes
    head = _head(source)
    reads_markup = {"article_pattern", "profile"} & set(named.takes)  # texts and profiles may be of any markup
    if not (head.startswith(_ZIP) or (_is_markup(head) and not reads_markup) or (is_text and _is_binary(head))):
        return
    try:
        found = _of_file(source)
    except CorpusError:
        if is_text:
            raise
        return  # a damaged archive: for the format itself to say
    if found.format != name:
        command = f"statgraph import {found.format} {source}"
        raise CorpusError(f"{source}: not {name} but {found.format} ({found.why}); read it with '{command}'")


def check_text(source: Path) -> None:
    """Refuse a binary file, such as a spreadsheet.

    Raises:
        CorpusError: if the file is not text.
    """
    if _is_binary(_head(source)):
        raise CorpusError(f"{source}: not a text file; save it as .csv in UTF-8")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _is_binary(head: bytes) -> bool:
    return head.startswith((_ZIP, _GZIP, *_BEGINNINGS))


def _of_folder(folder: Path) -> RecognisedFormat:
    for pattern, name in _formats_of_file_names():
        if (found := next(folder.glob(pattern), None)) is not None:
            return RecognisedFormat(name, f"it holds {found.name}")
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith((".", "~$")))
    suffixes = Counter(path.suffix.lower() for path in islice(files, _MAX_FILES))
    formats = _formats_of_suffixes()
    for suffix, count in suffixes.most_common():
        if suffix in formats:
            return RecognisedFormat(formats[suffix], f"files that end in {suffix}: {count:,}")
    recipe = next((suffix for suffix, _ in suffixes.most_common() if suffix in _RECIPES), None)
    if recipe is not None:
        raise CorpusError(f"{folder}: holds files that end in {recipe}, which are not read; {_remedy(recipe, 'FILE')}")
    raise CorpusError(f"{folder}: {'holds files' if suffixes else 'an empty folder'} of no known format; {_named()}")


def _of_file(path: Path) -> RecognisedFormat:
    head = _head(path)
    suffix, formats = path.suffix.lower(), _formats_of_suffixes()
    named = next((name for pattern, name in _formats_of_file_names() if path.match(pattern)), "")
    if named and suffix not in formats:
        return RecognisedFormat(named, "its name")
    if head.startswith(b"PAR1"):
        return RecognisedFormat("parquet", "its first bytes")
    if head.startswith(_ZIP):
        return _of_zip(path)
    begins = next((likely for bytes_, likely in _BEGINNINGS.items() if head.startswith(bytes_)), "")
    if suffix in formats and (begins == ".doc" or not begins) and not _is_markup(head):
        return RecognisedFormat(formats[suffix], f"its name ends in {suffix}")
    if _is_markup(head):
        return _of_markup(path, head)
    if begins or suffix in _RECIPES:
        likely = suffix if suffix in _RECIPES else begins
        raise CorpusError(f"{path}: files that end in {likely} are not read; {_remedy(likely, path.name)}")
    if head.startswith(_GZIP):
        if formats.get(Path(path.stem).suffix.lower(), _OFFICIAL_XML) not in (_OFFICIAL_XML, _PAGE):
            raise CorpusError(f"{path}: a compressed file; unpack it with 'gunzip {path.name}' and import that")
        return RecognisedFormat(_OFFICIAL_XML, "a compressed file")
    if b"\0" in head or not head.strip():
        raise CorpusError(f"{path}: {'of no known format' if head.strip() else 'is empty'}; {_named()}")
    return RecognisedFormat("jsonl" if head.lstrip().startswith(b"{") else "txt", "its first bytes")


def _is_markup(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _of_markup(path: Path, head: bytes) -> RecognisedFormat:
    """Return the format of XML or of a page: some are official formats too."""
    profile = next((profile_of(document) for document in documents(path)), None)
    if profile is not None:
        return RecognisedFormat(_OFFICIAL_XML, f"its root element, of the profile {profile.name}")
    if _PAGE_ROOT.search(head):
        return RecognisedFormat(_PAGE, "its root element")
    if name := _formats_of_suffixes().get(path.suffix.lower()):
        return RecognisedFormat(name, f"its name ends in {path.suffix}")
    return RecognisedFormat(_OFFICIAL_XML, "its first bytes")


def _of_zip(path: Path) -> RecognisedFormat:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            mime_type = archive.read("mimetype")[:100].decode("ascii", "replace") if "mimetype" in names else ""
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise CorpusError(f"{path}: damaged archive ({error}); download or save it again") from None
    for part, name in _PARTS.items():
        if part in names:
            return RecognisedFormat(name, "its first bytes")
    likely = next((suffix for part, suffix in _MIME_TYPES.items() if part in mime_type), None)
    if likely is not None:
        raise CorpusError(f"{path}: files that end in {likely} are not read; {_remedy(likely, path.name)}")
    if any(name.lower().removesuffix(".gz").endswith((".xml", ".akn", ".xhtml", ".html", ".htm")) for name in names):
        return RecognisedFormat(_OFFICIAL_XML, "an archive of such files")
    raise CorpusError(f"{path}: an archive, of which only {_OFFICIAL_XML} is read; unpack it and import the folder")


def _formats_of_file_names() -> list[tuple[str, str]]:
    """Return the patterns of file names with their formats, the later first: they are of one source, and say more."""
    return [(pattern, name) for name in reversed(list(FORMATS)) for pattern in FORMATS.load(name).files]


def _formats_of_suffixes() -> dict[str, str]:
    return {suffix: name for name in FORMATS for suffix in FORMATS.load(name).suffixes}


def _remedy(suffix: str, file_name: str) -> str:
    return _RECIPES[suffix].replace("FILE", file_name)


def _named() -> str:
    return f"name its format: {', '.join(FORMATS)}"
