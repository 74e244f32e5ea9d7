import numpy as np
import pytest

from statgraph.encoders.loading import load_backbone
from statgraph.errors import ModelError, UsageError
from statgraph.training.masking import NO_TOKEN, TokenBlocks, masked_batch, token_blocks


@pytest.fixture
def tokenizer(tiny_backbone):
    return load_backbone(tiny_backbone)[0]


def tokens_of(tokenizer, blocks: TokenBlocks) -> list[list[str]]:
    return [tokenizer.convert_ids_to_tokens(blocks.piece_ids[row[row != NO_TOKEN]].tolist()) for row in blocks.ids]


def test_texts_are_packed_end_to_end(tokenizer):
    blocks = token_blocks(tokenizer, ["the tenant pays the rent", "work", "the child"], block_tokens=6)

    assert tokens_of(tokenizer, blocks) == [
        ["<s>", "▁the", "▁tenant", "▁pays", "▁the", "</s>"],
        ["<s>", "▁rent", "</s>", "▁work", "</s>", "</s>"],
        ["<s>", "▁the", "▁child", "</s>"],
    ]
    assert len(blocks) == 3
    assert blocks.ids[2].tolist()[4:] == [NO_TOKEN, NO_TOKEN]
    # <s>, </s>, <unk> as the mask, then the, tenant, pays, rent, work, child, in the tokenizer's own order
    assert blocks.piece_ids.tolist() == [0, 2, 3, 6, 7, 9, 10, 11, 12]
    assert blocks.special.tolist() == [True, True, True, *[False] * 6]


def test_the_mask_token(tokenizer, e5_folder):
    from transformers import AutoTokenizer

    blocks = token_blocks(tokenizer, ["rent"], block_tokens=8)
    assert (blocks.mask_token, blocks.piece_ids[blocks.mask]) == ("<unk>", 3)

    e5 = AutoTokenizer.from_pretrained(e5_folder)
    blocks = token_blocks(e5, ["Le loyer"], block_tokens=8)
    assert (blocks.mask_token, blocks.piece_ids[blocks.mask]) == ("<mask>", 250001)
    assert blocks.special[blocks.mask]


def test_nothing_to_mask_with(tokenizer, monkeypatch):
    monkeypatch.setattr("statgraph.training.masking._MASK_NAMES", ())
    tokenizer.unk_token = None
    tokenizer.name_or_path = "mine"

    with pytest.raises(ModelError) as error:
        token_blocks(tokenizer, ["rent"], block_tokens=8)
    assert str(error.value) == (
        "mine: the tokenizer has neither a mask token nor an unknown one; name another backbone"
    )


def test_blocks_without_room(tokenizer):
    with pytest.raises(UsageError) as error:
        token_blocks(tokenizer, ["rent"], block_tokens=2)
    assert str(error.value) == (
        "pretrain.max_tokens: 2 leaves no room for text beside the special tokens; use 3 or more"
    )


def numbered_blocks() -> TokenBlocks:
    """Return 10 blocks of 0, forty pieces of text, 1; piece 2 is the mask and pieces 3 to 42 are text."""
    texts = np.tile(np.arange(3, 43), (10, 1))
    ids = np.concatenate([np.zeros((10, 1)), texts, np.ones((10, 1))], axis=1).astype(np.int32)
    return TokenBlocks(ids, np.arange(43), np.arange(43) < 3, 2, "<mask>")


def test_fifteen_in_a_hundred_are_predicted():
    blocks = numbered_blocks()
    batch = masked_batch(blocks, np.arange(10), np.random.default_rng(0), share=0.15)
    original, shown = blocks.ids.reshape(-1), batch.ids.reshape(-1)

    assert len(batch.places) == len(set(batch.places)) == 60  # of 400
    np.testing.assert_array_equal(batch.targets, original[batch.places])
    assert batch.targets.min() >= 3
    assert (shown[batch.places[:48]] == 2).all()  # 80 % of 60
    assert 4 <= (shown[batch.places[48:54]] != original[batch.places[48:54]]).sum() <= 6  # a draw may hit its own
    assert shown[batch.places[48:54]].min() >= 3
    np.testing.assert_array_equal(shown[batch.places[54:]], original[batch.places[54:]])
    others = np.setdiff1d(np.arange(len(original)), batch.places)
    np.testing.assert_array_equal(shown[others], original[others])


def test_a_batch_follows_from_its_generator():
    blocks, rows = numbered_blocks(), np.array([7, 2])
    first, again, other = (masked_batch(blocks, rows, np.random.default_rng(seed), share=0.15) for seed in (1, 1, 2))

    np.testing.assert_array_equal(first.ids, again.ids)
    assert not np.array_equal(first.places, other.places)
    np.testing.assert_array_equal(blocks.ids, numbered_blocks().ids)


def test_padding_is_never_predicted(tokenizer):
    blocks = token_blocks(tokenizer, ["the rent"], block_tokens=40)
    batch = masked_batch(blocks, np.array([0, 0]), np.random.default_rng(0), share=1.0)

    assert sorted(batch.places.tolist()) == [1, 2, 41, 42]
    assert (batch.ids[:, 4:] == NO_TOKEN).all()


def test_one_token_at_least(tokenizer):
    blocks = token_blocks(tokenizer, ["rent"], block_tokens=8)
    batch = masked_batch(blocks, np.array([0]), np.random.default_rng(0), share=0.15)

    assert batch.places.tolist() == [1]
    assert batch.ids[0, :3].tolist() == [0, blocks.mask, 1]
