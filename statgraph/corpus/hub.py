"""The corpora of the Hugging Face hub: BSARD, and bBSARD in French and in Dutch.

Both are under CC BY-NC-SA 4.0: they are downloaded by the user and never shipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from statgraph.corpus.importing import About, import_corpus
from statgraph.corpus.records import Corpus
from statgraph.corpus.splitting import HASH
from statgraph.errors import CorpusError, FetchError, reason_of


@dataclass(frozen=True, slots=True)
class HubCorpus:
    """A data set on the hub: which files to download (`patterns`, as the hub matches them) and what they contain."""

    name: str
    summary: str
    repository: str
    patterns: tuple[str, ...]
    language: str
    licence: str = "CC BY-NC-SA 4.0"


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
    return import_corpus("bsard", folder, about, splits=splits)


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
