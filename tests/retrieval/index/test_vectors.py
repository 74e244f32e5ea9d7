import gc
import sys
from pathlib import Path

import faiss
import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.retrieval.index import vectors as module
from statgraph.retrieval.index.vectors import (
    all_unit_length,
    best_of,
    check_ids,
    check_vectors,
    float32_tiles,
    inner_products,
    vector_lengths,
    vectors_view,
)


def test_tiles_are_float32_and_in_order(monkeypatch):
    monkeypatch.setattr(module, "TILE_ROWS", 2)
    vectors = np.arange(6, dtype=np.float16).reshape(3, 2)
    found = list(float32_tiles(vectors))
    assert [(start, tile.tolist(), tile.dtype) for start, tile in found] == [
        (0, [[0, 1], [2, 3]], np.float32),
        (2, [[4, 5]], np.float32),
    ]


def resident_kib(file: Path) -> int:
    """Return how much of a mapped file is in this process's memory."""
    kib, of_file = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if "-" in line.split(" ")[0]:
            of_file = line.endswith(str(file))
        elif of_file and line.startswith("Rss:"):
            kib += int(line.split()[1])
    return kib


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_pass_over_a_mapped_file_leaves_nothing_of_it_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "TILE_ROWS", 1_000)
    np.save(tmp_path / "v.npy", np.ones((4_000, 384), dtype=np.float16))
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r", allow_pickle=False)
    assert mapped.sum(dtype=np.float64) == 4_000 * 384
    assert resident_kib(tmp_path / "v.npy") > 2_000
    assert sum(tile.sum() for _, tile in float32_tiles(mapped)) == 4_000 * 384
    assert resident_kib(tmp_path / "v.npy") < 100


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_changes_of_a_mapped_file_are_kept(tmp_path, mode):
    np.save(tmp_path / "v.npy", np.ones((3, 2), dtype=np.float32))
    mapped = np.load(tmp_path / "v.npy", mmap_mode=mode, allow_pickle=False)
    mapped[1] = 5.0
    assert [tile.tolist() for _, tile in float32_tiles(mapped)] == [[[1, 1], [5, 5], [1, 1]]]
    assert mapped.tolist() == [[1, 1], [5, 5], [1, 1]]


@pytest.mark.parametrize(("value", "length"), [(np.nan, "nan"), (np.inf, "inf"), (0.0, "0"), (2.0, "2")])
def test_vectors_not_of_length_one_are_refused(compass, value, length):
    wrong = compass[:3].copy()
    wrong[1, 1] = value
    with pytest.raises(RunError, match=rf"^index: .* 'B' has length {length}, not 1 \(1 of 3 are wrong\); "):
        check_vectors("index", wrong, ["A", "B", "C"])


def test_vectors_of_any_length_must_be_finite(compass):
    wrong = 3 * compass[:2]
    check_vectors("index", wrong, ["A", "B"], unit_length=False)
    wrong[1, 0] = np.nan
    with pytest.raises(RunError, match=r"^index: .* 'B' is not finite \(1 of 2 are wrong\); .*learning rate"):
        check_vectors("index", wrong, ["A", "B"], unit_length=False)


def test_every_vector_has_an_id_of_its_own(compass):
    check_ids("index", 2, ["A", "B"])
    with pytest.raises(RunError, match=r"^index: 3 vectors, but 2 article ids; "):
        check_ids("index", 3, ["A", "B"])
    with pytest.raises(RunError, match=r"^index: article id 'B' appears 2 times; "):
        check_vectors("index", compass[:3], ["A", "B", "B"])


def test_lengths_go_on_over_tiles(monkeypatch):
    monkeypatch.setattr(module, "TILE_ROWS", 2)
    vectors = np.array([[3, 4], [0, 1], [5, 12]], dtype=np.float16)
    assert vector_lengths(vectors).tolist() == [5.0, 1.0, 13.0]
    assert not all_unit_length(vectors)
    assert all_unit_length(vectors[1:2])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("tile_rows", [2, 1 << 16])
def test_products_with_some_rows(monkeypatch, dtype, tile_rows):
    monkeypatch.setattr(module, "TILE_ROWS", tile_rows)
    vectors = np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype)
    products = inner_products(vectors, np.array([1, 0, 2], dtype=np.float32), np.array([1, 0, 1]))
    assert (products.tolist(), products.dtype) == ([16, 7, 16], np.float32)


@pytest.mark.parametrize("width", [5, 100, 384])
def test_a_pair_scores_the_same_whatever_other_rows_are_asked_for(unit_vectors, width):
    vectors, query = unit_vectors(3000, width, seed=1), unit_vectors(1, width, seed=2)[0]
    scores = inner_products(vectors, query, np.arange(3000))
    for seed in range(20):
        rows = np.random.default_rng(seed).choice(3000, 100 + seed)
        assert (inner_products(vectors, query, rows) == scores[rows]).all()


def test_products_of_vectors_where_a_file_put_them(unit_vectors):
    vectors = unit_vectors(50, 8, seed=1)
    raw = np.zeros(vectors.nbytes + 1, dtype=np.uint8)
    raw[1:] = np.frombuffer(vectors.tobytes(), dtype=np.uint8)
    unaligned, rows = raw[1:].view(np.float32).reshape(50, 8), np.array([49, 0, 7], dtype=np.int32)
    assert not unaligned.flags.aligned
    assert (inner_products(unaligned, vectors[3], rows) == inner_products(vectors, vectors[3], rows)).all()


def test_products_with_a_row_that_is_not_there(unit_vectors):
    vectors = unit_vectors(5, 8, seed=1)
    with pytest.raises(IndexError, match="row 5 of 5"):
        inner_products(vectors, vectors[0], np.array([0, 5]))


def test_the_best_of_some_rows_go_by_row_where_they_tie():
    vectors = np.array([[2, 0], [3, 0], [2, 5], [3, 1], [9, 9]], dtype=np.float32)
    rows, scores = best_of(vectors, np.array([1, 0], dtype=np.float32), np.array([3, 2, 1, 0]), 3)
    assert (rows.tolist(), scores.tolist()) == ([1, 3, 0], [3, 3, 2])


def test_the_view_of_an_index_of_faiss_keeps_it_alive():
    flat = faiss.IndexFlatIP(8)
    flat.add(np.ones((1000, 8), dtype=np.float32))
    view = vectors_view(flat)[:, :1]
    assert np.shares_memory(view, vectors_view(flat))
    del flat
    gc.collect()
    faiss.IndexFlatIP(8).add(np.zeros((1000, 8), dtype=np.float32))
    assert (view == 1).all()
