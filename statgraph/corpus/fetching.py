"""Download of catalogue corpora: npm packages at pinned versions, verified, unpacked safely and written atomically."""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from statgraph.corpus.catalogue import Package, corpus_named
from statgraph.corpus.records import Corpus
from statgraph.corpus.splitting import HASH
from statgraph.corpus.store import held_for_writing, write_corpus
from statgraph.errors import FetchError

CORPORA = Path("corpora")  # where `statgraph fetch` writes
NPM_TIMEOUT_S = 600

_NPM_CODE = re.compile(r"npm (error|ERR!) code ")


def default_folder(name: str, splits: str = HASH) -> Path:
    """Return where a corpus of the catalogue is written unless another folder is named."""
    return CORPORA / (name if splits == HASH else f"{name}-{splits}")


def fetch_corpus(name: str, folder: Path, from_folder: Path | None = None, splits: str = HASH) -> Corpus:
    """Return a catalogue corpus after writing it to a folder, whole or not at all.

    `from_folder` holds what would be downloaded: the archives of the packages, or the files of a hub corpus.
    `splits` says how questions without a split get one.

    Raises:
        UsageError: if the catalogue has no such name.
        FetchError: if the corpus cannot be fetched: no client, no network, wrong checksum, disk full.
        CorpusError: if the data is inconsistent, or the folder contains anything but a corpus.
    """
    entry = corpus_named(name)
    try:
        with ExitStack() as stack:
            stack.enter_context(held_for_writing(folder, replace=True))
            sources = from_folder
            if entry.packages:
                sources = stack.enter_context(unpacked_packages(entry.packages, from_folder))
            corpus = entry.build(sources, splits)
            write_corpus(corpus, folder)
    except OSError as error:
        raise disk_failure(error, folder) from error
    return corpus


@contextmanager
def unpacked_packages(packages: Sequence[Package], archive_folder: Path | None = None) -> Iterator[Path]:
    """Yield a temporary folder with the used members of each package under its `folder`.

    The archives come from `archive_folder` where it is given, else from npm.

    Raises:
        FetchError: if an archive cannot be obtained, has the wrong checksum, or would write outside the folder.
    """
    with tempfile.TemporaryDirectory(prefix="statgraph-fetch-") as temporary:
        for package in packages:
            archive = Path(archive_folder or temporary) / package.archive
            if archive_folder is None:
                npm_pack(package, Path(temporary))
            elif not archive.is_file():
                raise FetchError(
                    f"{archive}: no such file; run 'npm pack {package.name}@{package.version}' where there is a "
                    "network and put the archive there"
                )
            check_sha512(archive, package)
            unpack(archive, package.members, Path(temporary) / package.folder)
        yield Path(temporary)


def npm_pack(package: Package, folder: Path) -> None:
    """Download the archive of a package to a folder with npm."""
    wanted = f"{package.name}@{package.version}"
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(
            f"npm: not on the PATH, but needed to download {wanted}; install Node.js, "
            f"or run 'npm pack {wanted}' on another machine and add '--from DIR' with the folder of {package.archive}"
        )
    options = ["--pack-destination", str(folder), "--ignore-scripts", "--fetch-retries=1"]
    try:
        finished = subprocess.run(
            [npm, "pack", wanted, *options],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=NPM_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FetchError(
            f"npm pack {wanted}: timed out after {NPM_TIMEOUT_S} s; check the network and try again"
        ) from None
    if finished.returncode != 0:
        raise FetchError(
            f"npm pack {wanted}: exit code {finished.returncode} ({_npm_reason(finished.stderr)}); "
            "check the network and npm's registry setting, then try again"
        )
    if not (folder / package.archive).is_file():
        raise FetchError(f"npm pack {wanted}: did not create {package.archive}; use npm 7 or newer")


def check_sha512(archive: Path, package: Package) -> None:
    """Raise FetchError if the archive's SHA-512 is not the pinned one."""
    with archive.open("rb") as file:
        got = hashlib.file_digest(file, "sha512").hexdigest()
    if got != package.sha512:
        raise FetchError(
            f"{archive.name}: sha512 {got}, expected {package.sha512}; "
            f"delete it and fetch {package.name}@{package.version} again"
        )


def unpack(archive: Path, pattern: str, folder: Path) -> None:
    """Write the files of an archive whose names match a pattern to a folder.

    Raises:
        FetchError: if a member's name points outside the folder, a match is a link, or the archive is damaged.
    """
    try:
        with tarfile.open(archive, "r:gz") as members:
            for member in members:
                name = PurePosixPath(member.name)
                if name.is_absolute() or ".." in name.parts or "\\" in member.name:
                    raise FetchError(
                        f"{archive.name}: member '{member.name}' points outside the archive; use another copy of it"
                    )
                if not fnmatch.fnmatchcase(member.name, pattern) or member.isdir():
                    continue
                if not member.isfile():
                    raise FetchError(
                        f"{archive.name}: member '{member.name}' is not a plain file; use another copy of the archive"
                    )
                target = folder.joinpath(*name.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                source = members.extractfile(member)
                if source is not None:  # it is, of a plain file
                    with source, target.open("wb") as file:
                        shutil.copyfileobj(source, file)
    except (tarfile.TarError, EOFError) as error:
        raise FetchError(f"{archive.name}: damaged archive ({error}); fetch it again") from error


def disk_failure(error: OSError, folder: Path) -> FetchError:
    """Return the error to show for a disk failure while a corpus is written to a folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FetchError(
            f"{error.filename or folder}: the disk is full; free 1 GB there and in {tempfile.gettempdir()}, "
            "or name other places with '--out' and TMPDIR"
        )
    return FetchError(f"{error.filename or folder}: {error.strerror or error}; choose a writable folder")


def _npm_reason(stderr: str) -> str:
    """Return the line with npm's error code, else the last line: npm ends with advice and the name of a log file."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    coded = [line for line in lines if _NPM_CODE.match(line)]
    return (coded or lines[-1:] or ["no message"])[0]
