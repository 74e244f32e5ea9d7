import numpy as np
import pytest

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RunError
from statgraph.index import blocks, mapped_vectors

VECTORS = [[1, 0], [0, 2], [3, 3]]


@pytest.fixture(params=mapped_vectors.PRECISIONS)
def mapped(request, tmp_path):
    """Return three vectors of whole numbers, which either precision holds exactly."""
    mapped_vectors.write(tmp_path, np.array(VECTORS, dtype=request.param))
    return mapped_vectors.read(tmp_path, shape=(3, 2), precision=request.param)


def test_vectors_stay_on_disk(mapped):
    assert isinstance(mapped, np.memmap)
    assert mapped.tolist() == VECTORS


@pytest.mark.parametrize("block_values", [1, 1 << 24])
def test_inner_products_with_some_rows(mapped, monkeypatch, block_values):
    monkeypatch.setattr(mapped_vectors, "_BLOCK_VALUES", block_values)
    queries = np.array([[1, 1], [2, 0.5]], dtype=np.float32)
    scores = mapped_vectors.inner_products(mapped, queries, np.array([[2, 0, -1], [1, 2, 0]]))
    assert scores.tolist() == [[6.0, 1.0, -np.inf], [1.0, 7.5, 2.0]]


@pytest.mark.parametrize("block_rows", [1, 2, 65536])
def test_best_of_all_rows(mapped, monkeypatch, block_rows):
    monkeypatch.setattr(blocks, "ROWS", block_rows)
    queries = np.array([[1, 0], [2, 0.5]], dtype=np.float32)
    scores, rows = mapped_vectors.best(mapped, queries, 2)
    assert (scores.tolist(), rows.tolist()) == ([[3.0, 1.0], [7.5, 2.0]], [[2, 0], [2, 0]])


def test_best_among_some_rows(mapped, monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 1)
    scores, rows = mapped_vectors.best(
        mapped, np.array([[2, 0.5]], dtype=np.float32), 2, AllowedRows.checked([0, 1], 3)
    )
    assert (scores.tolist(), rows.tolist()) == ([[2.0, 1.0]], [[0, 1]])


def refusal(folder, *, shape=(3, 2), precision="float32") -> str:
    with pytest.raises(RunError) as refused:
        mapped_vectors.read(folder, shape=shape, precision=precision)
    message = str(refused.value)
    assert message.endswith("; make the index again with 'statgraph train'")
    assert "\n" not in message
    return message.removeprefix(str(folder / "vectors.npy"))


def test_a_missing_file_is_refused(tmp_path):
    assert refusal(tmp_path).startswith(": missing; ")


@pytest.mark.parametrize("kept", [0, 5, 100, -4])
def test_a_file_that_was_cut_off_is_refused(tmp_path, kept):
    mapped_vectors.write(tmp_path, np.array(VECTORS, dtype=np.float32))
    path = tmp_path / "vectors.npy"
    path.write_bytes(path.read_bytes()[:kept])
    assert refusal(tmp_path).startswith(": damaged (")


@pytest.mark.parametrize("other", [{"shape": (4, 2)}, {"precision": "float16"}])
def test_vectors_of_another_index_are_refused(tmp_path, other):
    mapped_vectors.write(tmp_path, np.array(VECTORS, dtype=np.float32))
    assert refusal(tmp_path, **other).startswith(": float32 of shape (3, 2), but the index is of ")
