"""FAISS's own files in an index folder, and the float32 vectors inside a FAISS index."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from statgraph.errors import RunError

INDEX_FILE = "index.faiss"
REMEDY = "make the index again with 'statgraph train'"


def write_faiss(index, folder: Path) -> None:
    """Write a FAISS index to a folder's `index.faiss`."""
    import faiss

    faiss.write_index(index, str(folder / INDEX_FILE))


def read_faiss(folder: Path, kind: str, *, mapped: bool = False):
    """Return the FAISS index in a folder's `index.faiss`, of the class named `kind`; `mapped` leaves its vectors there.

    Raises:
        RunError: if the file is missing or damaged, or holds another class, or nothing.
    """
    import faiss

    path = folder / INDEX_FILE
    if not path.is_file():
        raise RunError(f"{path}: missing; {REMEDY}")
    try:
        index = faiss.read_index(str(path), getattr(faiss, "IO_FLAG_MMAP_IFC", 0) if mapped else 0)  # none before 1.11
    except (RuntimeError, MemoryError):
        raise RunError(f"{path}: damaged, FAISS cannot read it; {REMEDY}") from None
    found = type(index).__name__
    if found != kind or not index.ntotal:
        raise RunError(f"{path}: a {found} of {index.ntotal} vectors, not an {kind} that holds some; {REMEDY}")
    return index


def vectors_view(flat, owner=None) -> np.ndarray:
    """Return the vectors inside a `faiss.IndexFlatIP`, (articles, width) float32, not copied.

    The view keeps the index alive, and `owner`, the index that this one is a part of.
    """
    import faiss

    view = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d).reshape(flat.ntotal, flat.d)
    return np.asarray(_Memory(view.__array_interface__, (flat, owner)))


class _Memory:
    """Memory of FAISS's as numpy takes it over, with what must outlive it."""

    def __init__(self, interface: dict, owners: tuple):
        self.__array_interface__ = interface
        self._owners = owners
