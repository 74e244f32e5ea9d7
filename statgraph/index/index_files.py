"""The files of an index folder: `index.faiss`, `vectors.npy`, and what the manifest says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

import numpy as np

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.index.equal_length import EqualLength
from statgraph.index.vectors import TILE_ROWS, forget_pages

INDEX_FILE, VECTORS_FILE = "index.faiss", "vectors.npy"
REMEDY = "build the index again with 'statgraph train'"
Settings = TypeVar("Settings")


def write_faiss(index, folder: Path) -> None:
    """Write a FAISS index to a folder's `index.faiss`."""
    import faiss

    faiss.write_index(index, str(folder / INDEX_FILE))


def read_faiss(folder: Path, kind: str, *, mapped: bool = False):
    """Return the FAISS index in a folder's `index.faiss`, of the class named `kind`; `mapped` leaves its vectors there.

    Raises:
        RunError: if the file is missing or damaged, holds another class, or is empty.
    """
    import faiss

    path = existing(folder / INDEX_FILE)
    try:
        index = faiss.read_index(str(path), getattr(faiss, "IO_FLAG_MMAP_IFC", 0) if mapped else 0)  # new in 1.11
    except (RuntimeError, MemoryError):
        raise RunError(f"{path}: damaged, FAISS cannot read it; {REMEDY}") from None
    found = type(index).__name__
    if found != kind or not index.ntotal:
        raise RunError(f"{path}: {found} with {index.ntotal} vectors, expected {kind} with at least one; {REMEDY}")
    return index


def vectors_view(flat, owner=None) -> np.ndarray:
    """Return the vectors inside a `faiss.IndexFlatIP`, (articles, width) float32, not copied.

    The view keeps the index alive, and `owner`, the index that this one is a part of.
    """
    import faiss

    view = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d).reshape(flat.ntotal, flat.d)
    return np.asarray(_Memory(view.__array_interface__, (flat, owner)))


class _Memory:
    """FAISS's memory as NumPy takes it over, with what must outlive it."""

    def __init__(self, interface: dict, owners: tuple):
        self.__array_interface__ = interface
        self._owners = owners


def write_vectors(folder: Path, vectors: np.ndarray) -> None:
    """Write vectors (articles, width) to a folder's `vectors.npy` in their own precision."""
    with (folder / VECTORS_FILE).open("wb") as file:
        descr = np.lib.format.dtype_to_descr(vectors.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": vectors.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, len(vectors), TILE_ROWS):
            np.ascontiguousarray(vectors[start : start + TILE_ROWS]).tofile(file)
            forget_pages(vectors)


def read_vectors(folder: Path, *, shape: tuple[int, int], precision: str) -> np.ndarray:
    """Return the vectors in a folder's `vectors.npy`, memory-mapped.

    Raises:
        RunError: if the file is missing or damaged, or holds another shape or precision.
    """
    return artifacts.read_array(existing(folder / VECTORS_FILE), shape, precision, remedy=REMEDY, mapped=True)


def read_entries(
    folder: Path, manifest: Mapping[str, object], kind: type[Settings], *, held_width: int
) -> tuple[EqualLength, Settings]:
    """Return the form in which an approximate index holds its vectors, and its settings, as its manifest has them.

    Raises:
        RunError: if an entry is missing or of another type, or the index holds vectors of another width.
    """
    form = _record(folder, manifest, "held", EqualLength)
    if (form.width, form.held_width) != (manifest.get("width"), held_width) or form.width > held_width:
        raise RunError(
            f"{folder / artifacts.MANIFEST}: vectors of width {form.width} held in {form.held_width} components, but "
            f"{INDEX_FILE} has {held_width}; {REMEDY}"
        )
    return form, _record(folder, manifest, "settings", kind)


def existing(path: Path) -> Path:
    """Return the path of a file that exists; raise RunError if it is missing."""
    if not path.is_file():
        raise RunError(f"{path}: missing; {REMEDY}")
    return path


def _record(folder: Path, manifest: Mapping[str, object], entry: str, kind: type[Settings]) -> Settings:
    """Return the dataclass that a manifest holds under `entry`."""
    saved = manifest.get(entry)
    types = {"int": int, "float": (int, float), "str": str}
    wanted = {item.name: types[str(item.type)] for item in fields(kind)}
    if not isinstance(saved, dict) or not all(isinstance(saved.get(name), of) for name, of in wanted.items()):
        raise RunError(f"{folder / artifacts.MANIFEST}: damaged (entry '{entry}'); {REMEDY}")
    return kind(**{name: saved[name] for name in wanted})
