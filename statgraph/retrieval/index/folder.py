"""The index folder: the kinds of index by name, their files, `ids.json`, and a manifest that describes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from statgraph import artifacts
from statgraph._version import __version__
from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.retrieval.index.flat_index import FlatIndex
from statgraph.retrieval.index.ivf_pq_index import MIN_ARTICLES, IvfPqIndex
from statgraph.retrieval.index.vectors import INDEX_FILE, REMEDY, all_unit_length, check_ids, check_vectors, existing
from statgraph.settings import check_settings

IDS_FILE = "ids.json"
UNIT_METRIC, METRIC = "inner product of unit vectors", "inner product"
_COMPONENTS_PER_BYTE = 4
_MIN_PROBES = 64
_PROBED_SHARE = 8  # one list in so many

# Holds article vectors and searches them by inner product. Both kinds have the same methods and attributes: `kind`, the
# name in `KINDS`; `reads_all`, whether a search reads all vectors, so that loading an index can check them; `width` of
# a vector; `vectors` (articles, width), float32 or float16, a view or a file on disk; and their `config`. A search has
# at least one row to search, and asks for no more than there are.
VectorIndex = FlatIndex | IvfPqIndex
KINDS: dict[str, type[VectorIndex]] = {kind.kind: kind for kind in (FlatIndex, IvfPqIndex)}


def chosen_index(config: IndexConfig, n_articles: int, width: int) -> IndexConfig:
    """Return the configuration with `auto` resolved and every setting that depends on the size filled in.

    Raises UsageError if a setting is out of range, RunError if there are too few articles for the kind.
    """
    check_settings(config)
    kind = config.kind
    if kind == "auto":
        kind = "flat" if n_articles <= max(config.flat_most, MIN_ARTICLES) else "ivf-pq"
    if kind == "ivf-pq":
        config = replace(config, ivf_pq=_sized(config.ivf_pq, n_articles, width))
    return replace(config, kind=kind)


def default_lists(n_articles: int) -> int:
    """Return how many lists an approximate index has: the power of two that is at most 2 * sqrt(articles)."""
    return 2 ** (int(2 * n_articles**0.5).bit_length() - 1)


def default_probes(lists: int) -> int:
    """Return how many of its lists a search reads: an eighth, but at least 64 where there are as many."""
    return min(lists, max(_MIN_PROBES, lists // _PROBED_SHARE))


def _sized(settings: IvfPqConfig, n_articles: int, width: int) -> IvfPqConfig:
    if n_articles < MIN_ARTICLES:
        raise RunError(
            f"index: ivf-pq needs at least {MIN_ARTICLES} articles to learn its codes (got {n_articles}); "
            "use --kind flat"
        )
    lists = settings.lists or default_lists(n_articles)
    if lists > n_articles:
        raise UsageError(f"ivf_pq.lists: must be at most {n_articles}, the number of articles (got {lists})")
    probes = min(lists, settings.probes or default_probes(lists))
    code_bytes = settings.code_bytes or -(-width // _COMPONENTS_PER_BYTE)
    if 2 * code_bytes > width + 1:
        raise UsageError(
            f"ivf_pq.code_bytes: must be at most {(width + 1) // 2}, one for two of {width} components "
            f"(got {code_bytes})"
        )
    return replace(settings, lists=lists, probes=probes, code_bytes=code_bytes)


def write_index_folder(folder: Path, index: VectorIndex, article_ids: Sequence[str]) -> None:
    """Write an index and the ids of its rows, whole or not at all."""
    import faiss

    with artifacts.replaced_folder(folder) as staging:
        own_entries = index.write(staging)
        artifacts.write_json(staging / IDS_FILE, {"article_ids": list(article_ids)})
        manifest = {
            "kind": index.kind,
            "articles": len(index),
            "width": index.width,
            "metric": UNIT_METRIC if all_unit_length(index.vectors) else METRIC,
            "versions": {"statgraph": __version__, "faiss": faiss.__version__},
            **own_entries,
        }
        artifacts.write_json(staging / artifacts.MANIFEST, manifest)


def read_article_ids(folder: Path) -> list[str]:
    """Return the ids of an index's rows, without its vectors.

    Raises:
        RunError: if the folder or the file is missing or damaged.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: no such index folder; {REMEDY}")
    article_ids = artifacts.read_object(existing(folder / IDS_FILE), remedy=REMEDY).get("article_ids")
    if not isinstance(article_ids, list) or not all(isinstance(each, str) for each in article_ids):
        raise RunError(f"{folder / IDS_FILE}: damaged (no list of strings 'article_ids'); {REMEDY}")
    return article_ids


def read_index_folder(folder: Path, *, device: str = "cpu") -> tuple[VectorIndex, list[str]]:
    """Return (index, list of article ids).

    Vectors that a search reads all are checked; of those that stay on disk only number, width and precision.

    Raises:
        RunError: if a file is missing or damaged, or the files do not belong together.
    """
    article_ids = read_article_ids(folder)
    manifest = artifacts.read_object(existing(folder / artifacts.MANIFEST), remedy=REMEDY)
    kind = manifest.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise RunError(
            f"{folder / artifacts.MANIFEST}: kind '{kind}' is not supported by this version, which has "
            f"{', '.join(KINDS)}; {REMEDY}"
        )
    index = KINDS[kind].read(folder, manifest, device=device)
    if (manifest.get("articles"), manifest.get("width")) != (len(index), index.width):
        raise RunError(
            f"{folder / INDEX_FILE}: {len(index)} vectors of width {index.width}, but {artifacts.MANIFEST} has "
            f"{manifest.get('articles')} of width {manifest.get('width')}; {REMEDY}"
        )
    if index.reads_all:
        check_vectors(str(folder), index.vectors, article_ids, unit_length=manifest.get("metric") != METRIC)
    else:
        check_ids(str(folder), len(index), article_ids)
    return index, article_ids
