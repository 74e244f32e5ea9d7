import sys
from pathlib import Path

import faiss
import numpy as np
import pytest

from statgraph.config import IndexConfig
from statgraph.index.article_index import ArticleIndex
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


def test_ties_across_the_cut_go_by_row():
    index = FlatIndex.build(np.ones((50, 2), dtype=np.float32), IndexConfig(), device="cpu")
    assert index.search(np.ones((1, 2), dtype=np.float32), 3)[1].tolist() == [[0, 1, 2]]


def anonymous_bytes() -> int:
    """Return the memory of this process that is no file's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(faiss, "IO_FLAG_MMAP_IFC"), reason="reads the file whole")
def test_vectors_stay_on_disk_until_the_first_search(tmp_path, unit_vectors):
    vectors = unit_vectors(40_000, 384, seed=3)
    ArticleIndex.build(vectors, [f"a{row}" for row in range(40_000)], device="cpu").save(tmp_path / "index")
    least = vectors.nbytes / 2
    before = anonymous_bytes()
    index = FlatIndex.read(tmp_path / "index", {}, device="cpu")
    assert (index.vectors[-1] == vectors[-1]).all()
    assert anonymous_bytes() - before < least
    index.search(vectors[:1], 1)
    assert anonymous_bytes() - before > least


def test_an_index_that_was_read_outlives_its_folder(tmp_path, unit_vectors):
    vectors, queries = unit_vectors(300, 12, seed=4), unit_vectors(2, 12, seed=5)
    FlatIndex.build(vectors, IndexConfig(), device="cpu").write(tmp_path)
    index = FlatIndex.read(tmp_path, {}, device="cpu")
    (tmp_path / "index.faiss").unlink()
    assert (index.vectors == vectors).all()
    expected = FlatIndex.build(vectors, IndexConfig(), device="cpu").search(queries, 9)
    for found, wanted in zip(index.search(queries, 9), expected, strict=True):
        assert (found == wanted).all()
