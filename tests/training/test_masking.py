import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    CamembertConfig,
    CamembertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
)

from statgraph.encoders.loading import load_backbone
from statgraph.errors import ModelError, UsageError
from statgraph.training.masking import NO_TOKEN, MaskedLanguageModel, TokenBlocks, masked_batch, token_blocks


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

    with pytest.raises(ModelError, match=r"^mine: .*neither a mask token nor an unknown one"):
        token_blocks(tokenizer, ["rent"], block_tokens=8)


def test_blocks_without_room(tokenizer):
    with pytest.raises(UsageError, match=r"^pretrain\.max_tokens: 2 leaves no room .* 3 or more"):
        token_blocks(tokenizer, ["rent"], block_tokens=2)


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


SIZES = {
    "vocab_size": 53, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 64, "pad_token_id": 1,
}  # fmt: skip
PIECES = np.array([0, 2, 5, 7, 9, 11, 30])
IDS = torch.tensor([[0, 2, 3, 6, 1], [0, 4, 5, 1, NO_TOKEN]])
PLACES = torch.tensor([1, 3, 6])


def masked_model(family: str):
    torch.manual_seed(0)
    model = {
        "bert": lambda: BertForMaskedLM(BertConfig(**SIZES)),
        "camembert": lambda: CamembertForMaskedLM(CamembertConfig(**SIZES)),
        "distilbert": lambda: DistilBertForMaskedLM(
            DistilBertConfig(vocab_size=53, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=64)
        ),
    }[family]()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model.eval()


@pytest.mark.parametrize("family", ["bert", "camembert", "distilbert"])
def test_the_logits_are_the_whole_models(family):
    model = masked_model(family)
    ids = torch.from_numpy(PIECES)[IDS.clamp(min=0)]
    ids[1, 4] = 1  # the padding piece
    with torch.no_grad():
        theirs = model(input_ids=ids, attention_mask=(IDS != NO_TOKEN).long()).logits.flatten(0, 1)
        ours = MaskedLanguageModel(model, PIECES)(IDS, PLACES)

    torch.testing.assert_close(ours, theirs[PLACES][:, PIECES], atol=1e-6, rtol=0)


def test_the_trained_pieces_go_back_into_the_whole_table():
    whole = masked_model("bert")
    before = whole.bert.embeddings.word_embeddings.weight.detach().clone()
    model = MaskedLanguageModel(whole, PIECES)
    with torch.no_grad():
        model.model.get_input_embeddings().weight.add_(1)
    encoder = model.trained_encoder()
    after = encoder.embeddings.word_embeddings.weight

    torch.testing.assert_close(after[PIECES], before[PIECES] + 1)
    others = np.setdiff1d(np.arange(53), PIECES)
    assert torch.equal(after[others], before[others])
    assert encoder.config.vocab_size == 53
