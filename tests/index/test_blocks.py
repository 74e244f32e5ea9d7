import mmap
import sys
from pathlib import Path

import numpy as np
import pytest

from statgraph.index import blocks
from statgraph.index.blocks import float32_blocks


def test_blocks_are_float32_and_in_order(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 2)
    vectors = np.arange(6, dtype=np.float16).reshape(3, 2)
    found = list(float32_blocks(vectors))
    assert [(start, block.tolist(), block.dtype) for start, block in found] == [
        (0, [[0, 1], [2, 3]], np.float32),
        (2, [[4, 5]], np.float32),
    ]


def test_blocks_of_some_rows(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 2)
    vectors = np.arange(10, dtype=np.float16).reshape(5, 2)
    read = [(start, block.tolist()) for start, block in blocks.float32_blocks(vectors, np.array([1, 3, 4]))]
    assert read == [(0, [[2, 3], [6, 7]]), (2, [[8, 9]])]


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
    monkeypatch.setattr(blocks, "ROWS", 1_000)
    np.save(tmp_path / "v.npy", np.ones((4_000, 384), dtype=np.float16))
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r", allow_pickle=False)
    assert mapped.sum(dtype=np.float64) == 4_000 * 384
    assert resident_kib(tmp_path / "v.npy") > 2_000
    assert sum(block.sum() for _, block in float32_blocks(mapped)) == 4_000 * 384
    assert resident_kib(tmp_path / "v.npy") < 100


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_changes_of_a_mapped_file_are_kept(tmp_path, mode):
    np.save(tmp_path / "v.npy", np.ones((3, 2), dtype=np.float32))
    mapped = np.load(tmp_path / "v.npy", mmap_mode=mode, allow_pickle=False)
    mapped[1] = 5.0
    assert [block.tolist() for _, block in float32_blocks(mapped)] == [[[1, 1], [5, 5], [1, 1]]]
    assert mapped.tolist() == [[1, 1], [5, 5], [1, 1]]


def test_an_array_over_a_mapping_of_another_s_is_read_as_any_other(tmp_path):
    np.ones((3, 2), dtype=np.float32).tofile(tmp_path / "v.bin")
    with (tmp_path / "v.bin").open("rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    vectors = np.ndarray((3, 2), np.float32, buffer=mapping)
    assert isinstance(vectors.base, mmap.mmap)
    assert [block.tolist() for _, block in float32_blocks(vectors)] == [[[1, 1], [1, 1], [1, 1]]]
