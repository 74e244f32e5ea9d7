import sys
from pathlib import Path

import faiss
import numpy as np
import pytest

from statgraph.config import IndexConfig
from statgraph.index.flat_index import FlatIndex


def test_vectors_are_a_view(compass):
    index = FlatIndex.build(compass, IndexConfig(), device="cpu")
    assert (len(index), index.width) == (5, 2)
    assert index.vectors.tolist() == compass.tolist()


def test_half_precision_is_widened():
    index = FlatIndex.build(np.array([[1, 2], [3, 0.5]], dtype=np.float16), IndexConfig(), device="cpu")
    scores, rows = index.search(np.array([[2, 1]], dtype=np.float32), 2)
    assert (scores.tolist(), rows.tolist()) == ([[6.5, 4.0]], [[1, 0]])


@pytest.mark.parametrize("n_queries", [1, 50])
@pytest.mark.parametrize("width", [24, 384])
def test_it_is_faiss_to_the_last_bit(unit_vectors, n_queries, width):
    vectors, queries = unit_vectors(700, width, seed=1), unit_vectors(n_queries, width, seed=2)
    flat = faiss.IndexFlatIP(width)
    flat.add(vectors)
    alone = [flat.search(queries[place : place + 1], 100) for place in range(n_queries)]  # many go by another routine
    expected_scores, expected_rows = (np.concatenate(parts) for parts in zip(*alone, strict=True))
    scores, rows = FlatIndex.build(vectors, IndexConfig(), device="cpu").search(queries, 100)
    assert (scores == expected_scores).all()
    assert (rows == expected_rows).all()


def lies_in(vectors: np.ndarray) -> str:
    """Return the file that the memory of vectors is mapped from, "" where it is the process's own."""
    address = vectors.ctypes.data
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        bounds, *_, file = [*line.split(maxsplit=5), ""][:6]
        start, end = (int(bound, 16) for bound in bounds.split("-"))
        if start <= address < end:
            return file if file.startswith("/") else ""
    raise AssertionError("not in this process's memory")


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(faiss, "IO_FLAG_MMAP_IFC"), reason="reads the file whole")
def test_vectors_stay_on_disk_until_the_first_search(tmp_path, unit_vectors):
    vectors = unit_vectors(4_000, 384, seed=3)
    FlatIndex.build(vectors, IndexConfig(), device="cpu").write(tmp_path)
    index = FlatIndex.read(tmp_path, {}, device="cpu")
    assert lies_in(index.vectors) == str(tmp_path / "index.faiss")
    assert (index.vectors == vectors).all()
    index.search(vectors[:1], 1)
    assert lies_in(index.vectors) == ""
    assert (index.vectors == vectors).all()


def test_an_index_that_was_read_outlives_its_folder(tmp_path, unit_vectors):
    vectors, queries = unit_vectors(300, 12, seed=4), unit_vectors(2, 12, seed=5)
    FlatIndex.build(vectors, IndexConfig(), device="cpu").write(tmp_path)
    index = FlatIndex.read(tmp_path, {}, device="cpu")
    (tmp_path / "index.faiss").unlink()
    assert (index.vectors == vectors).all()
    expected = FlatIndex.build(vectors, IndexConfig(), device="cpu").search(queries, 9)
    for found, wanted in zip(index.search(queries, 9), expected, strict=True):
        assert (found == wanted).all()
