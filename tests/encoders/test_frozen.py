import numpy as np
import pytest
import torch
from transformers import BertModel

from statgraph.encoders import frozen
from statgraph.encoders.frozen import cache_for, embedded_chunks, padded, pooled, weights_fingerprint
from statgraph.encoders.vector_cache import VectorCache

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
    return embedded_chunks(model, chunks, pooling=pooling, pad_id=1, device=CPU, dtype=dtype, cache=cache, **others)


def test_pooling_by_hand():
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [90.0, 90.0]], [[5.0, 5.0], [7.0, 9.0], [9.0, 1.0]]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])

    assert pooled(hidden, mask, "mean").tolist() == [[2, 4], [7, 5]]
    assert pooled(hidden, mask, "cls").tolist() == [[1, 2], [5, 5]]


def test_padding_by_hand():
    ids, mask = padded([(7, 8), (9,)], pad_id=1)

    assert ids.tolist() == [[7, 8], [9, 1]]
    assert mask.tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("budget", [1, 9, 8192])
def test_batches_give_the_same_as_one_by_one(model, tmp_path, monkeypatch, pooling, budget):
    monkeypatch.setattr(frozen, "TOKENS_PER_BATCH", budget)
    found = embedded(model, CHUNKS, VectorCache(tmp_path), pooling=pooling)

    for row, chunk in enumerate(CHUNKS):
        with torch.no_grad():
            hidden = model(input_ids=torch.tensor([chunk])).last_hidden_state[0]
        expected = hidden.mean(dim=0) if pooling == "mean" else hidden[0]
        np.testing.assert_allclose(found[row], expected.numpy(), atol=2e-3)  # kept as float16


def test_batches_stay_within_the_token_budget(model, calls, tmp_path, monkeypatch):
    monkeypatch.setattr(frozen, "TOKENS_PER_BATCH", 10)
    embedded(model, CHUNKS, VectorCache(tmp_path))

    assert calls == [3, 2, 1]  # lengths 2, 3, 3: 9 tokens with padding; 4, 5: 10; 7


def test_equal_texts_are_computed_once(model, calls, tmp_path):
    found = embedded(model, [CHUNKS[0], CHUNKS[1], CHUNKS[0]], VectorCache(tmp_path))

    assert sum(calls) == 2
    np.testing.assert_array_equal(found[0], found[2])


def test_what_is_cached_is_not_computed(model, calls, tmp_path):
    first = embedded(model, CHUNKS[:4], VectorCache(tmp_path))
    both = embedded(model, CHUNKS, VectorCache(tmp_path))
    embedded(model, CHUNKS[::-1], VectorCache(tmp_path))

    assert sum(calls) == 6
    np.testing.assert_array_equal(both[:4], first)


def test_an_interrupted_run_goes_on(model, calls, tmp_path, monkeypatch):
    monkeypatch.setattr(frozen, "_SHARD_CHUNKS", 2)
    monkeypatch.setattr(frozen, "TOKENS_PER_BATCH", 1)

    def interrupt(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedded(model, CHUNKS, VectorCache(tmp_path), progress=interrupt)
    assert len(calls) == 5

    seen = []
    resumed = embedded(model, CHUNKS, VectorCache(tmp_path), progress=lambda *at: seen.append(at))
    assert len(calls) == 7  # two shards of two were saved: the fifth again, and the sixth
    assert seen == [(1, 2), (2, 2)]
    np.testing.assert_array_equal(resumed, embedded(model, CHUNKS, VectorCache(tmp_path / "whole")))


def test_a_damaged_shard_is_computed_again(model, calls, tmp_path):
    before = embedded(model, CHUNKS, VectorCache(tmp_path))
    (shard,) = tmp_path.glob("*.npz")
    shard.write_bytes(shard.read_bytes()[:100])

    np.testing.assert_array_equal(embedded(model, CHUNKS, VectorCache(tmp_path)), before)
    assert sum(calls) == 12


def test_no_chunks(model, calls, tmp_path):
    assert embedded(model, [], VectorCache(tmp_path)).shape[0] == 0
    assert calls == []


def test_the_fingerprint(model):
    def fingerprint(pooling="mean", dtype=torch.float32):
        return weights_fingerprint(model, pooling=pooling, dtype=dtype)

    names = {fingerprint(), fingerprint(pooling="cls"), fingerprint(dtype=torch.bfloat16)}
    assert len(names) == 3
    assert fingerprint() in names
    with torch.no_grad():
        model.encoder.layer[2].output.dense.bias[0] += 1e-6
    assert fingerprint() not in names


def test_each_model_has_a_cache_of_its_own(model, tmp_path):
    cache_for(model, folder=tmp_path, pooling="mean", dtype=torch.float32).add([b"k" * 16], np.ones((1, 2)))

    assert b"k" * 16 in cache_for(model, folder=tmp_path, pooling="mean", dtype=torch.float32)
    assert b"k" * 16 not in cache_for(model, folder=tmp_path, pooling="cls", dtype=torch.float32)
