from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import BertModel

from statgraph.encoders import frozen
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.frozen import (
    Tower,
    VectorCache,
    embedded_chunks,
    pooled,
    weights_fingerprint,
)

CPU = torch.device("cpu")
CHUNKS = [(0, 4, 2), (0, 5, 6, 7, 2), (0, 2), (0, 8, 9, 2), (0, 4, 4, 4, 4, 4, 2), (0, 10, 2)]


@pytest.fixture
def model(tiny_folder):
    return BertModel.from_pretrained(tiny_folder, add_pooling_layer=False).eval()


@pytest.fixture
def calls(model) -> list[int]:
    """Count the texts of each call of the model."""
    sizes: list[int] = []
    model.register_forward_hook(lambda module, args, kwargs, out: sizes.append(len(out[0])), with_kwargs=True)
    return sizes


def embedded(model, chunks, cache, *, pooling="mean", dtype=torch.float32, **others):
    backbone, tokenizer = Backbone("tiny", "transformer", "", pooling), SimpleNamespace(pad_token_id=1)
    return embedded_chunks(Tower(backbone, tokenizer, model, CPU, dtype), chunks, cache=cache, **others)


def test_pooling_by_hand():
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [90.0, 90.0]], [[5.0, 5.0], [7.0, 9.0], [9.0, 1.0]]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])

    assert pooled(hidden, mask, "mean").tolist() == [[2, 4], [7, 5]]
    assert pooled(hidden, mask, "cls").tolist() == [[1, 2], [5, 5]]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("budget", [1, 9, 8192])
def test_batches_give_the_same_as_one_by_one(model, tmp_path, monkeypatch, pooling, budget):
    monkeypatch.setattr("statgraph.encoders.chunking.TOKENS_PER_BATCH", budget)
    found = embedded(model, CHUNKS, VectorCache(tmp_path), pooling=pooling)

    for row, chunk in enumerate(CHUNKS):
        with torch.no_grad():
            hidden = model(input_ids=torch.tensor([chunk])).last_hidden_state[0]
        expected = hidden.mean(dim=0) if pooling == "mean" else hidden[0]
        np.testing.assert_allclose(found[row], expected.numpy(), atol=2e-3)  # kept as float16


def test_batches_stay_within_the_token_budget(model, calls, tmp_path, monkeypatch):
    monkeypatch.setattr("statgraph.encoders.chunking.TOKENS_PER_BATCH", 10)
    embedded(model, CHUNKS, VectorCache(tmp_path))

    assert calls == [3, 2, 1]  # lengths 2, 3, 3: 9 tokens with padding; 4, 5: 10; 7


def test_what_is_cached_is_not_computed(model, calls, tmp_path):
    first = embedded(model, [*CHUNKS[:4], CHUNKS[0]], VectorCache(tmp_path))
    assert sum(calls) == 4
    np.testing.assert_array_equal(first[0], first[4])
    both = embedded(model, CHUNKS, VectorCache(tmp_path))
    embedded(model, CHUNKS[::-1], VectorCache(tmp_path))

    assert sum(calls) == 6
    np.testing.assert_array_equal(both[:4], first[:4])


def test_an_interrupted_run_goes_on(model, calls, tmp_path, monkeypatch):
    monkeypatch.setattr(frozen, "_SHARD_CHUNKS", 2)
    monkeypatch.setattr("statgraph.encoders.chunking.TOKENS_PER_BATCH", 1)

    def interrupt(done, total):
        if len(calls) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedded(model, CHUNKS, VectorCache(tmp_path), progress=interrupt)
    assert len(calls) == 5

    seen = []
    resumed = embedded(model, CHUNKS, VectorCache(tmp_path), progress=lambda *at: seen.append(at))
    assert len(calls) == 7  # two shards of two were saved: the fifth again, and the sixth
    sizes = sorted(map(len, CHUNKS))[-2:]
    assert seen == [(sizes[0], sum(sizes)), (sum(sizes), sum(sizes))]  # in tokens
    np.testing.assert_array_equal(resumed, embedded(model, CHUNKS, VectorCache(tmp_path / "whole")))


def test_the_fingerprint(model):
    def fingerprint(pooling="mean", dtype=torch.float32):
        return weights_fingerprint(model, pooling=pooling, dtype=dtype)

    names = {fingerprint(), fingerprint(pooling="cls"), fingerprint(dtype=torch.bfloat16)}
    assert len(names) == 3
    assert fingerprint() in names
    with torch.no_grad():
        model.encoder.layer[2].output.dense.bias[0] += 1e-6
    assert fingerprint() not in names


KEYS = [bytes([n]) * 16 for n in range(6)]
VECTORS = np.arange(18, dtype=np.float32).reshape(6, 3) / 4


def shards(folder):
    return sorted(folder.glob("*.npz"))


def test_a_round_trip(tmp_path):
    VectorCache(tmp_path).add(KEYS, VECTORS)
    cache = VectorCache(tmp_path)

    found = cache.vectors([KEYS[4], KEYS[0], KEYS[4]])
    np.testing.assert_array_equal(found, VECTORS[[4, 0, 4]])
    assert found.dtype == np.float16
    assert KEYS[5] in cache
    assert b"x" * 16 not in cache
    with pytest.raises(KeyError):
        cache.vectors([b"x" * 16])


@pytest.mark.parametrize("kept", [0, 10, 200, 300, -20])
def test_a_shard_cut_short_counts_as_absent(tmp_path, kept):
    cache = VectorCache(tmp_path)
    cache.add(KEYS[:3], VECTORS[:3])
    cache.add(KEYS[3:], VECTORS[3:])
    first = next(path for path in shards(tmp_path) if path.name.startswith(KEYS[0].hex()))
    first.write_bytes(first.read_bytes()[:kept])

    again = VectorCache(tmp_path)
    assert [key in again for key in KEYS] == [False] * 3 + [True] * 3
    again.add(KEYS[:3], VECTORS[:3])  # as `embedded_chunks` does; takes the damaged shard's place
    np.testing.assert_array_equal(again.vectors(KEYS), VECTORS)
    np.testing.assert_array_equal(VectorCache(tmp_path).vectors(KEYS), VECTORS)
    assert len(shards(tmp_path)) == 2


def test_two_writers(tmp_path):
    first, second = VectorCache(tmp_path), VectorCache(tmp_path)
    first.add(KEYS[:4], VECTORS[:4])
    second.add(KEYS[:4], VECTORS[:4])  # the same shard again
    second.add(KEYS[2:], VECTORS[2:])  # and one that overlaps

    np.testing.assert_array_equal(first.vectors(KEYS[:4]), VECTORS[:4])
    np.testing.assert_array_equal(VectorCache(tmp_path).vectors(KEYS), VECTORS)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".npz", ".npz"]
