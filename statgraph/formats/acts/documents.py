"""The documents of a source: a file, a folder, an archive, or an https address of one.

Nothing is unpacked to disk, and nothing is read beyond fixed limits.
"""

from __future__ import annotations

import gzip
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from statgraph.errors import CorpusError, reason_of
from statgraph.formats.download import download

SUFFIXES = (".xml", ".akn", ".xhtml", ".html", ".htm")
HEAD_BYTES = 1 << 16
MAX_DOCUMENT_BYTES = 1 << 30
MAX_DOWNLOAD_BYTES = 2 << 30
_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    RuntimeError,
    NotImplementedError,
)


class Document:
    """One file of a source, to be read once.

    Attributes:
        name: within the source, for messages.
        head: its first 64 KiB.
    """

    def __init__(self, name: str, stream: Any):
        self.name, self._stream = name, stream
        self.head = self._next(HEAD_BYTES)

    def read(self) -> bytes:
        """Return all of it.

        Raises:
            CorpusError: if it is larger than a document may be, or what it is packed in is damaged.
        """
        data = self.head + self._next(MAX_DOCUMENT_BYTES)
        if len(data) > MAX_DOCUMENT_BYTES:
            raise CorpusError(f"{self.name}: holds more than {MAX_DOCUMENT_BYTES >> 30} GiB; split it, or check it")
        return data

    def _next(self, size: int) -> bytes:
        try:
            data: bytes = self._stream.read(size)
            return data
        except _BROKEN as error:
            raise CorpusError(f"{self.name}: damaged ({reason_of(error)}); download it again") from None


def documents(source: Path, passed_over: list[str] | None = None) -> Iterator[Document]:
    """Yield the documents of a file, a folder with all below it, or a zip or tar archive, by name.

    A document is valid until the next one is asked for. The names of files with another suffix are added to
    `passed_over`.

    Raises:
        CorpusError: if an archive is damaged.
    """
    over = [] if passed_over is None else passed_over
    if source.is_dir():
        for path in sorted(path for path in source.rglob("*") if path.is_file()):
            name = path.relative_to(source).as_posix()
            if not _is_document(name):
                over.append(name)
                continue
            yield from _of_file(path, name)
        return
    with source.open("rb") as file:
        magic = file.read(4)
    try:
        if magic == _ZIP:
            yield from _of_zip(source, over)
        elif _is_tar(source):
            yield from _of_tar(source, over)
        else:
            yield from _of_file(source, source.name)
    except _BROKEN as error:
        raise CorpusError(f"{source}: damaged archive ({reason_of(error)}); download it again") from None


def _is_document(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(SUFFIXES) and not PurePosixPath(name).name.startswith(".")


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except (OSError, EOFError, zlib.error):
        return False


def _of_file(path: Path, name: str) -> Iterator[Document]:
    with path.open("rb") as stream:
        yield _document(name, stream)


def _of_zip(path: Path, over: list[str]) -> Iterator[Document]:
    with zipfile.ZipFile(path) as archive:
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            if info.is_dir():
                continue
            if not _is_document(info.filename):
                over.append(info.filename)
                continue
            with archive.open(info) as stream:
                yield _document(info.filename, stream)


def _of_tar(path: Path, over: list[str]) -> Iterator[Document]:
    with tarfile.open(path, "r|*") as archive:
        for info in archive:
            stream = archive.extractfile(info) if info.isfile() and _is_document(info.name) else None
            if stream is not None:
                yield _document(info.name, stream)
            elif info.isfile():
                over.append(info.name)


def _document(name: str, stream: Any) -> Document:
    return Document(name, gzip.GzipFile(fileobj=stream) if stream.peek(2).startswith(_GZIP) else stream)


@contextmanager
def fetched(address: str) -> Iterator[tuple[Path, str]]:
    """Give the path and the SHA-256 (hex) of a temporary file with what is at an address, gone when the block ends.

    Raises:
        UsageError, FetchError: as `download` does.
    """
    name = PurePosixPath(unquote(urlsplit(address).path)).name or "download"
    with tempfile.TemporaryDirectory(prefix="statgraph-") as folder:
        path = Path(folder) / re.sub(r"[^\w.\-]+", "_", name)[-100:]
        yield path, download(address, path, max_bytes=MAX_DOWNLOAD_BYTES)
