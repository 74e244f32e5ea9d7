"""The index folder: the files of its kind, `ids.json`, and a manifest that describes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from statgraph import __version__, artifacts
from statgraph.errors import RunError
from statgraph.index.flat_index import FlatIndex
from statgraph.index.index_files import INDEX_FILE, REMEDY, existing
from statgraph.index.kinds import KINDS, VectorIndex
from statgraph.index.vectors import all_unit_length, check_ids, check_vectors

IDS_FILE = "ids.json"
UNIT_METRIC, METRIC = "inner product of unit vectors", "inner product"
_FORMER_KIND = "hnsw"


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


def read_index_folder(folder: Path, *, device: str = "cpu", converting: bool = False) -> tuple[VectorIndex, list[str]]:
    """Return (index, list of article ids); a folder from before there were kinds is flat.

    Vectors in memory are checked; of those that stay on disk only number, width and precision. With `converting` a
    folder of the former kind hnsw is read as a flat index.

    Raises:
        RunError: if a file is missing or damaged, or the files do not belong together.
    """
    article_ids = read_article_ids(folder)
    manifest = artifacts.read_object(existing(folder / artifacts.MANIFEST), remedy=REMEDY)
    kind = manifest.get("kind", FlatIndex.kind)
    if kind == _FORMER_KIND and converting:
        index = FlatIndex.of_hnsw(folder, manifest, device=device)
    elif isinstance(kind, str) and kind in KINDS:
        index = KINDS[kind].read(folder, manifest, device=device)
    else:
        remedy = REMEDY
        if kind == _FORMER_KIND:
            remedy = f"convert the index with 'statgraph index --run {folder.parent} --kind flat' (or ivf-pq)"
        raise RunError(
            f"{folder / artifacts.MANIFEST}: kind '{kind}' is not supported by this version, which has "
            f"{', '.join(KINDS)}; {remedy}"
        )
    if (manifest.get("articles"), manifest.get("width")) != (len(index), index.width):
        raise RunError(
            f"{folder / INDEX_FILE}: {len(index)} vectors of width {index.width}, but {artifacts.MANIFEST} has "
            f"{manifest.get('articles')} of width {manifest.get('width')}; {REMEDY}"
        )
    if index.in_memory:
        check_vectors(str(folder), index.vectors, article_ids, unit_length=manifest.get("metric") != METRIC)
    else:
        check_ids(str(folder), len(index), article_ids)
    return index, article_ids
