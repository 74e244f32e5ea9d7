import numpy as np
import pytest
import torch
from transformers import AutoModel

from statgraph.encoders import layer_states as module
from statgraph.encoders.layer_states import ChunkStates, LayerStates, layer_states

CHUNKS = ((2, 5, 7, 9, 3), (2, 3), (2, 8, 3))


@pytest.fixture
def model(tiny_folder):
    return AutoModel.from_pretrained(tiny_folder).eval()


@pytest.fixture
def computed(model, tmp_path):
    """Return a function that gives the states of chunks, kept in the test's folder."""
    return lambda chunks=CHUNKS, dtype=torch.float32: layer_states(
        model, chunks, pad_id=1, dtype=dtype, folder=tmp_path / "layers"
    )


def test_each_chunk_has_the_states_of_its_own_tokens(model, computed):
    states = computed()
    assert len(states) == 3
    for row, chunk in enumerate(CHUNKS):
        ids = torch.tensor([chunk])
        with torch.no_grad():
            alone = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
        assert states.chunk(row).shape == (len(chunk), 32)
        np.testing.assert_allclose(states.chunk(row), alone.numpy(), atol=2e-3)


def test_the_same_chunks_are_computed_once(computed, monkeypatch, tmp_path):
    computed()
    monkeypatch.setattr(module, "token_batches", lambda *items: pytest.fail("computed again"))
    computed()
    with pytest.raises(pytest.fail.Exception, match="computed again"):
        computed(chunks=CHUNKS[:2])
    with pytest.raises(pytest.fail.Exception, match="computed again"):
        computed(dtype=torch.bfloat16)
    assert len(list((tmp_path / "layers").iterdir())) == 1


def test_a_file_cut_short_is_computed_again(computed, tmp_path):
    whole = [computed().chunk(row) for row in range(3)]
    (path,) = (tmp_path / "layers").iterdir()
    path.write_bytes(path.read_bytes()[:100])
    assert all(np.array_equal(computed().chunk(row), states) for row, states in enumerate(whole))


def test_what_is_interrupted_leaves_nothing(computed, monkeypatch, tmp_path):
    def interrupted(*items):
        yield [0]
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "token_batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        computed()
    assert list((tmp_path / "layers").iterdir()) == []


@pytest.fixture
def by_hand(tmp_path) -> ChunkStates:
    """Two texts: chunk 0 of two tokens; chunks 1 and 2 of one token each; states count up from 0, width 2."""
    path = tmp_path / "states"
    path.write_bytes(np.arange(8, dtype=np.float16).tobytes())
    return ChunkStates(LayerStates(path, np.array([0, 2, 3, 4]), 2), np.arange(3), np.array([0, 1, 3]))


def test_texts_are_padded_to_the_longest_chunk(by_hand):
    states, mask = by_hand.padded()
    assert states.tolist() == [[[0, 1], [2, 3]], [[4, 5], [0, 0]], [[6, 7], [0, 0]]]
    assert mask.tolist() == [[1, 1], [1, 0], [1, 0]]
    assert states.dtype == torch.float32


def test_texts_are_taken_in_any_order(by_hand):
    taken = by_hand.take(torch.tensor([1, 0]))
    assert len(taken) == 2
    assert taken.offsets.tolist() == [0, 2, 3]
    assert taken.padded()[0].tolist() == [[[4, 5], [0, 0]], [[6, 7], [0, 0]], [[0, 1], [2, 3]]]
    again = taken.take(torch.tensor([1, 1]))
    assert again.padded()[0].tolist() == [[[0, 1], [2, 3]], [[0, 1], [2, 3]]]


def test_parts_have_chunks_of_about_equal_length(computed):
    texts = ChunkStates(computed(), np.array([0, 2, 1, 2]), np.array([0, 2, 4]))  # 5, 3, 2 and 3 tokens
    parts = list(texts.parts(most_tokens=6))
    assert [places for places, _ in parts] == [[2, 1], [3], [0]]  # 2 chunks of 3, the third would make 9
    for places, part in parts:
        assert part.rows.tolist() == texts.rows[places].tolist()
        assert part.offsets.tolist() == list(range(len(places) + 1))
