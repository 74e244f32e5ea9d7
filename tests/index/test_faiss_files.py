import gc

import faiss
import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.index.faiss_files import read_faiss, vectors_view, write_faiss


@pytest.fixture
def flat(compass):
    flat = faiss.IndexFlatIP(2)
    flat.add(compass)
    return flat


def test_what_is_written_is_read(tmp_path, flat, compass):
    write_faiss(flat, tmp_path)
    assert vectors_view(read_faiss(tmp_path, "IndexFlatIP")).tolist() == compass.tolist()


def test_another_class_is_refused(tmp_path, flat):
    write_faiss(flat, tmp_path)
    with pytest.raises(RunError, match=r": a IndexFlatIP of 5 vectors, not an IndexHNSWFlat that holds some; make the"):
        read_faiss(tmp_path, "IndexHNSWFlat")


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
