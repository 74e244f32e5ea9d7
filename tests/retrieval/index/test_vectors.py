import sys
from pathlib import Path

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.retrieval.index import vectors as module
from statgraph.retrieval.index.vectors import (
    check_vectors,
    float32_tiles,
    inner_products,
    vector_lengths,
)


def test_tiles_are_float32_and_in_order(monkeypatch):
    monkeypatch.setattr(module, "TILE_ROWS", 2)
    vectors = np.arange(6, dtype=np.float16).reshape(3, 2)
    tiles = list(float32_tiles(vectors))
    assert [(start, tile.tolist(), tile.dtype) for start, tile in tiles] == [
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


@pytest.mark.parametrize(
    ("value", "unit_length", "fault"),
    [
        (np.nan, True, "has length nan, not 1"),
        (np.inf, True, "has length inf, not 1"),
        (0.0, True, "has length 0, not 1"),
        (2.0, True, "has length 2, not 1"),
        (np.nan, False, "is not finite"),
    ],
)
def test_vectors_of_a_wrong_length_are_refused(compass, value, unit_length, fault):
    wrong = compass[:3].copy()
    wrong[1, 1] = value
    with pytest.raises(RunError, match=rf"^index: .* 'B' {fault} \(1 of 3 are wrong\); "):
        check_vectors("index", float32_tiles(wrong), ["A", "B", "C"], unit_length=unit_length)
    check_vectors("index", float32_tiles(3 * compass[:2]), ["A", "B"], unit_length=False)


def test_every_vector_has_an_id_of_its_own(compass):
    with pytest.raises(RunError, match=r"^index: article id 'B' appears 2 times; "):
        check_vectors("index", float32_tiles(compass[:3]), ["A", "B", "B"])


def test_lengths_go_on_over_tiles(monkeypatch):
    monkeypatch.setattr(module, "TILE_ROWS", 2)
    vectors = np.array([[3, 4], [0, 1], [5, 12]], dtype=np.float16)
    assert vector_lengths(float32_tiles(vectors)).tolist() == [5.0, 1.0, 13.0]


def test_products_by_hand():
    products = inner_products(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32), np.array([1, 0, 2], dtype=np.float32))
    assert (products.tolist(), products.dtype) == ([7, 16], np.float32)
    assert inner_products(np.empty((0, 3), dtype=np.float32), np.ones(3, dtype=np.float32)).tolist() == []
