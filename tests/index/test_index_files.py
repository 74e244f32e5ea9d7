import gc

import faiss
import numpy as np
import pytest

from statgraph.config import IvfPqConfig
from statgraph.errors import RunError
from statgraph.index.equal_length import EqualLength
from statgraph.index.index_files import (
    read_entries,
    read_faiss,
    read_vectors,
    vectors_view,
    write_faiss,
    write_vectors,
)

VECTORS = np.array([[1, 0], [0, 2], [3, 3]], dtype=np.float32)
HELD = {"width": 2, "held_width": 3, "length": 1}
SETTINGS = {"lists": 8, "probes": 2, "code_bytes": 1, "rerank": 30, "precision": "float16"}


@pytest.fixture
def flat(compass):
    flat = faiss.IndexFlatIP(2)
    flat.add(compass)
    return flat


def test_a_faiss_index_comes_back(tmp_path, flat, compass):
    write_faiss(flat, tmp_path)
    assert vectors_view(read_faiss(tmp_path, "IndexFlatIP")).tolist() == compass.tolist()


def test_the_view_shares_the_memory_and_keeps_its_owners(flat, compass):
    class Owner:
        alive = True

        def __del__(self):
            Owner.alive = False

    view = vectors_view(flat, Owner())[:, :1]
    gc.collect()
    assert Owner.alive
    flat.reset()
    flat.add(compass[::-1].copy())
    assert view.tolist() == compass[::-1, :1].tolist()
    del view
    gc.collect()
    assert not Owner.alive


def test_the_view_outlives_the_name_of_its_index():
    flat = faiss.IndexFlatIP(8)
    flat.add(np.ones((1000, 8), dtype=np.float32))
    view = vectors_view(flat)
    del flat
    gc.collect()
    faiss.IndexFlatIP(8).add(np.zeros((1000, 8), dtype=np.float32))
    assert (view == 1).all()


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_vectors_stay_on_disk(tmp_path, precision):
    write_vectors(tmp_path, VECTORS.astype(precision))
    mapped = read_vectors(tmp_path, shape=(3, 2), precision=precision)
    assert isinstance(mapped, np.memmap)
    assert mapped.tolist() == VECTORS.tolist()


def test_missing_vectors_are_refused(tmp_path):
    with pytest.raises(RunError, match=r"vectors\.npy: missing; "):
        read_vectors(tmp_path, shape=(3, 2), precision="float32")


@pytest.mark.parametrize("kept", [0, 5, 100, -4])
def test_vectors_that_were_cut_off_are_refused(tmp_path, kept):
    write_vectors(tmp_path, VECTORS)
    path = tmp_path / "vectors.npy"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(RunError, match=r"vectors\.npy: not readable \(.*; ") as refused:
        read_vectors(tmp_path, shape=(3, 2), precision="float32")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("other", [{"shape": (4, 2)}, {"precision": "float16"}])
def test_vectors_of_another_index_are_refused(tmp_path, other):
    write_vectors(tmp_path, VECTORS)
    with pytest.raises(RunError, match=r"vectors\.npy: float32 of shape \(3, 2\) where "):
        read_vectors(tmp_path, **{"shape": (3, 2), "precision": "float32", **other})


def test_entries_come_back(tmp_path):
    manifest = {"width": 2, "held": HELD, "settings": SETTINGS}
    expected = EqualLength(2, 3, 1), IvfPqConfig(8, 2, 1, 30, "float16")
    assert read_entries(tmp_path, manifest, IvfPqConfig, held_width=3) == expected


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("held", None),
        ("held", {"width": 2, "held_width": 3}),
        ("held", {**HELD, "width": "2"}),
        ("settings", []),
        ("settings", {**SETTINGS, "lists": 8.5}),
    ],
)
def test_damaged_entries_are_refused(tmp_path, entry, value):
    manifest = {"width": 2, "held": HELD, "settings": SETTINGS, entry: value}
    with pytest.raises(RunError, match=rf"manifest\.json: damaged \(entry '{entry}'\); "):
        read_entries(tmp_path, manifest, IvfPqConfig, held_width=3)


@pytest.mark.parametrize(("width", "held_width"), [(3, 3), (2, 4)])
def test_entries_of_another_index_are_refused(tmp_path, width, held_width):
    manifest = {"width": width, "held": HELD, "settings": SETTINGS}
    with pytest.raises(RunError, match=rf"vectors of width 2 held in 3 components, but .* has {held_width}; "):
        read_entries(tmp_path, manifest, IvfPqConfig, held_width=held_width)
