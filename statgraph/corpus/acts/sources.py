"""The documents of a source: a file, a folder, an archive, or an https address of one, read as streams of bytes.

Nothing is unpacked to disk, and nothing is read beyond fixed limits.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import re
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from statgraph.errors import CorpusError, FetchError, UsageError, reason_of

SUFFIXES = (".xml", ".akn", ".xhtml", ".html", ".htm")
HEAD_BYTES = 1 << 16
MAX_DOCUMENT_BYTES = 4 << 30
MAX_DOWNLOAD_BYTES = 2 << 30
TIMEOUT_S = 60
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
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


class _Bytes(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Document:
    """One file of a source, to be read once from its beginning.

    Attributes:
        name: within the source, for messages.
        head: its first 64 KiB.
    """

    def __init__(self, name: str, stream: _Bytes):
        self.name, self._stream = name, stream
        self.head = stream.read(HEAD_BYTES)
        self._unread, self._n_read = self.head, 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, b"" at the end.

        Raises:
            CorpusError: if there are more than a document may have.
        """
        if self._unread:
            size = len(self._unread) if size < 0 else size
            data, self._unread = self._unread[:size], self._unread[size:]
        else:
            data = self._stream.read(size)
        self._n_read += len(data)
        if self._n_read > MAX_DOCUMENT_BYTES:
            raise CorpusError(f"{self.name}: holds more than {MAX_DOCUMENT_BYTES >> 30} GiB; split it, or check it")
        return data


def documents(source: Path, passed_over: list[str] | None = None) -> Iterator[Document]:
    """Yield the documents of a file, a folder with all below it, or a zip or tar archive, by name.

    A document is valid until the next one is asked for. The names of files that by their suffix are none are added to
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
    with path.open("rb") as file:
        is_gzip = file.read(2) == _GZIP
    try:
        with gzip.open(path) if is_gzip else path.open("rb") as stream:
            yield Document(name, stream)
    except _BROKEN as error:
        raise CorpusError(f"{name}: damaged gzip file ({reason_of(error)}); download it again") from None


def _of_zip(path: Path, over: list[str]) -> Iterator[Document]:
    with zipfile.ZipFile(path) as archive:
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            if info.is_dir():
                continue
            if not _is_document(info.filename):
                over.append(info.filename)
                continue
            with archive.open(info) as stream:
                yield from _unpacked(info.filename, stream)


def _of_tar(path: Path, over: list[str]) -> Iterator[Document]:
    with tarfile.open(path, "r|*") as archive:
        for info in archive:
            stream = archive.extractfile(info) if info.isfile() and _is_document(info.name) else None
            if stream is not None:
                yield from _unpacked(info.name, stream)
            elif info.isfile():
                over.append(info.name)


def _unpacked(name: str, stream: IO[bytes]) -> Iterator[Document]:
    if name.lower().endswith(".gz"):
        with gzip.GzipFile(fileobj=stream) as inner:
            yield Document(name, inner)
    else:
        yield Document(name, stream)


class Fetched(NamedTuple):
    """A file that was downloaded, and the SHA-256 (hex) of its bytes."""

    path: Path
    sha256: str


def is_address(source: object) -> bool:
    """Return whether a source is an address to download."""
    return isinstance(source, str) and re.match(r"[a-z][a-z0-9+.\-]*://", source, re.IGNORECASE) is not None


@contextmanager
def fetched(address: str) -> Iterator[Fetched]:
    """Download an address to a temporary file, which is gone when the block ends.

    Raises:
        UsageError: if the address is not https (http is for this machine alone), or holds a name and password.
        FetchError: if it cannot be downloaded, or is larger than 2 GiB.
    """
    _check_address(address)
    name = PurePosixPath(unquote(urlsplit(address).path)).name or "download"
    with tempfile.TemporaryDirectory(prefix="statgraph-") as folder:
        path = Path(folder) / re.sub(r"[^\w.\-]+", "_", name)[-100:]
        digest = hashlib.sha256()
        try:
            with _OPENER.open(address, timeout=TIMEOUT_S) as answer, path.open("wb") as file:
                while chunk := answer.read(1 << 20):
                    file.write(chunk)
                    digest.update(chunk)
                    if file.tell() > MAX_DOWNLOAD_BYTES:
                        raise FetchError(
                            f"{address}: larger than {MAX_DOWNLOAD_BYTES >> 20:,} MiB; download it, and import the file"
                        )
        except urllib.error.HTTPError as error:
            raise FetchError(
                f"{address}: the server answers {error.code} ({error.reason}); check the address"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            reason = reason_of(getattr(error, "reason", None) or error)
            raise FetchError(
                f"{address}: cannot be downloaded ({reason}); check the network, or download it elsewhere"
            ) from None
        yield Fetched(path, digest.hexdigest())


def _check_address(address: str) -> None:
    parts = urlsplit(address)
    if parts.username or parts.password:
        raise UsageError(
            f"{parts.scheme}://{parts.hostname}: an address with a password is not downloaded; download it yourself"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise UsageError(f"{address}: not an https address; give one, or download the file and name it")


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https alone."""

    max_redirections = 5

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_SafeRedirects)
