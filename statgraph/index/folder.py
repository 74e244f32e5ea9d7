"""The index folder: `index.faiss` with the vectors, `ids.json` beside it, and a manifest that says what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph import __version__, artifacts
from statgraph.errors import RunError

VECTORS_FILE = "index.faiss"
IDS_FILE = "ids.json"
UNIT_METRIC, METRIC = "inner product of unit vectors", "inner product"
NORM_TOLERANCE = 1e-3
_REMEDY = "make the index again with 'statgraph train'"


def write_index_folder(folder: Path, flat, article_ids: Sequence[str]) -> None:
    """Write a `faiss.IndexFlatIP` and the ids of its rows, whole or not at all."""
    import faiss

    with artifacts.replaced_folder(folder) as staging:
        faiss.write_index(flat, str(staging / VECTORS_FILE))
        artifacts.write_json(staging / IDS_FILE, {"article_ids": list(article_ids)})
        versions = {"statgraph": __version__, "faiss": faiss.__version__}
        metric = UNIT_METRIC if (np.abs(_lengths(vectors_view(flat)) - 1) <= NORM_TOLERANCE).all() else METRIC
        manifest = {"articles": flat.ntotal, "width": flat.d, "metric": metric, "versions": versions}
        artifacts.write_json(staging / artifacts.MANIFEST, manifest)


def read_index_folder(folder: Path):
    """Return (`faiss.IndexFlatIP`, list of article ids).

    Raises:
        RunError: if a file is missing or damaged, or the files do not belong together.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: no such index folder; {_REMEDY}")
    manifest = _read_json(folder / artifacts.MANIFEST)
    article_ids = _read_json(folder / IDS_FILE).get("article_ids")
    if not isinstance(article_ids, list):
        raise RunError(f"{folder / IDS_FILE}: damaged (no list 'article_ids'); {_REMEDY}")
    flat = _read_flat(folder / VECTORS_FILE)
    if (manifest.get("articles"), manifest.get("width")) != (flat.ntotal, flat.d):
        raise RunError(
            f"{folder / VECTORS_FILE}: {flat.ntotal} vectors of width {flat.d}, but {artifacts.MANIFEST} says "
            f"{manifest.get('articles')} of width {manifest.get('width')}; {_REMEDY}"
        )
    unit_length = manifest.get("metric") != METRIC
    check_vectors(str(folder), vectors_view(flat), article_ids, unit_length=unit_length)
    return flat, article_ids


def check_vectors(place: str, vectors: np.ndarray, article_ids: Sequence[str], *, unit_length: bool = True) -> None:
    """Return if every vector has one id of its own and length 1, or any finite length where `unit_length` is false.

    Raises:
        RunError: if not; the text begins with `place` and names the first article that is wrong.
    """
    if len(vectors) != len(article_ids):
        raise RunError(f"{place}: {len(vectors)} vectors, but {len(article_ids)} article ids; give one id a vector")
    if len(set(article_ids)) < len(article_ids):
        twice, times = Counter(article_ids).most_common(1)[0]
        raise RunError(f"{place}: article id '{twice}' appears {times} times; ids must be unique")
    lengths = _lengths(vectors)
    # This way round, nan is wrong too.
    wrong = np.flatnonzero(~(np.abs(lengths - 1) <= NORM_TOLERANCE) if unit_length else ~np.isfinite(lengths))
    if len(wrong) and not unit_length:
        raise RunError(
            f"{place}: the vector of article '{article_ids[wrong[0]]}' is not finite ({len(wrong)} of {len(vectors)} "
            "are wrong); train the run again with a lower learning rate"
        )
    if len(wrong):
        raise RunError(
            f"{place}: the vector of article '{article_ids[wrong[0]]}' has length {lengths[wrong[0]]:.4g}, not 1 "
            f"({len(wrong)} of {len(vectors)} are wrong); normalise them, or train the run again"
        )


def _lengths(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ad,ad->a", vectors, vectors))  # (articles,)


def vectors_view(flat) -> np.ndarray:
    """Return the vectors inside a `faiss.IndexFlatIP`, (articles, width) float32; valid only while it is alive."""
    import faiss

    return faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d).reshape(flat.ntotal, flat.d)


def _read_flat(path: Path):
    import faiss

    if not path.is_file():
        raise RunError(f"{path}: missing; {_REMEDY}")
    try:
        flat = faiss.read_index(str(path))
    except (RuntimeError, MemoryError):
        raise RunError(f"{path}: damaged, FAISS cannot read it; {_REMEDY}") from None
    if not isinstance(flat, faiss.IndexFlatIP) or not flat.ntotal:
        kind = type(flat).__name__
        raise RunError(f"{path}: a {kind} of {flat.ntotal} vectors, not an IndexFlatIP that holds some; {_REMEDY}")
    return flat


def _read_json(path: Path) -> dict:
    if not path.is_file():
        raise RunError(f"{path}: missing; {_REMEDY}")
    try:
        value = artifacts.read_json(path)
    except ValueError as error:
        raise RunError(f"{path}: damaged ({error}); {_REMEDY}") from None
    if not isinstance(value, dict):
        raise RunError(f"{path}: damaged (not a JSON object); {_REMEDY}")
    return value
