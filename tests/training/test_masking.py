import pytest
import torch
from torch.nn import functional

from statgraph.config import PretrainConfig
from statgraph.encoders.loading import load_backbone
from statgraph.errors import ModelError
from statgraph.training.masking import (
    NO_LABEL,
    NO_PIECE,
    TokenBlocks,
    cut_to_pieces,
    masked_loss,
    masking_of,
    put_pieces_back,
    token_blocks,
)


@pytest.fixture
def tokenizer(tiny_backbone):
    return load_backbone(tiny_backbone)[0]


def blocks_of(tokenizer, *texts: str, block_tokens: int) -> TokenBlocks:
    return token_blocks(tokenizer, texts, PretrainConfig(max_tokens=block_tokens))


def test_texts_are_packed_end_to_end(tokenizer):
    blocks = blocks_of(tokenizer, "the tenant pays the rent", "work", "the child", block_tokens=6)

    assert [[blocks.tokens[piece] for piece in row if piece != NO_PIECE] for row in blocks.ids] == [
        ["<s>", "▁the", "▁tenant", "▁pays", "▁the", "</s>"],
        ["<s>", "▁rent", "</s>", "▁work", "</s>", "</s>"],
        ["<s>", "▁the", "▁child", "</s>"],
    ]
    assert blocks.ids[2].tolist()[4:] == [NO_PIECE, NO_PIECE]
    # <s>, </s>, <unk> as the mask, then the, tenant, pays, rent, work, child, in the tokenizer's own order
    assert blocks.piece_ids.tolist() == [0, 2, 3, 6, 7, 9, 10, 11, 12]
    assert blocks.special.tolist() == [True, True, True, *[False] * 6]


def test_the_mask_token(tokenizer, e5_folder):
    from transformers import AutoTokenizer

    assert blocks_of(tokenizer, "rent", block_tokens=8).mask_token == "<unk>"
    blocks = blocks_of(AutoTokenizer.from_pretrained(e5_folder), "Le loyer", block_tokens=8)
    assert (blocks.mask_token, blocks.tokens[-1], blocks.piece_ids[-1]) == ("<mask>", "<mask>", 250001)
    assert blocks.special[-1]
    tokenizer.unk_token, tokenizer.name_or_path = None, "mine"
    with pytest.raises(ModelError, match=r"^mine: .*neither a mask token nor an unknown one"):
        blocks_of(tokenizer, "rent", block_tokens=8)


def test_tokens_are_hidden_by_the_share_and_shown_as_pieces_of_the_texts():
    pieces = torch.arange(43)
    blocks = TokenBlocks(pieces[3:].repeat(500, 1), pieces, [f"piece {n}" for n in range(43)], pieces < 3, "piece 2")
    torch.manual_seed(0)
    shown, labels = masking_of(blocks, 0.15).torch_mask_tokens(blocks.ids.clone(), blocks.special[blocks.ids])

    hidden = labels != NO_LABEL
    assert hidden.float().mean() == pytest.approx(0.15, abs=0.01)  # of 20,000
    assert torch.equal(labels[hidden], blocks.ids[hidden])
    assert torch.equal(shown[~hidden], blocks.ids[~hidden])
    assert (shown[hidden] == 2).float().mean() == pytest.approx(0.8, abs=0.03)
    assert (shown[hidden] == labels[hidden]).float().mean() == pytest.approx(0.1, abs=0.03)
    assert torch.isin(shown, pieces).all()


SIZES = {
    "vocab_size": 53, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 64, "pad_token_id": 1,
}  # fmt: skip
PIECES = torch.tensor([0, 2, 5, 7, 9, 11, 30])
IDS = torch.tensor([[0, 2, 3, 6, 1], [0, 4, 5, 1, NO_PIECE]])
LABELS = torch.tensor([[NO_LABEL, 5, NO_LABEL, 6, NO_LABEL], [NO_LABEL, 4, NO_LABEL, NO_LABEL, NO_LABEL]])


def masked_model(family: str):
    import transformers

    sizes = SIZES
    if family == "DistilBert":
        sizes = {"vocab_size": 53, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**sizes)
    model = getattr(transformers, f"{family}ForMaskedLM")(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model.eval()


@pytest.mark.parametrize("family", ["Bert", "Camembert", "DistilBert"])
def test_the_loss_is_the_whole_models_over_these_pieces(family):
    model = masked_model(family)
    ids = PIECES[IDS.clamp(min=0)]
    ids[1, 4] = 1  # the padding piece
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=(IDS != NO_PIECE).long()).logits[..., PIECES]
        cut_to_pieces(model, PIECES)
        ours = masked_loss(model, IDS, LABELS)

    torch.testing.assert_close(ours, functional.cross_entropy(logits.flatten(0, 1), LABELS.flatten()))
    assert masked_loss(model, IDS, torch.full_like(LABELS, NO_LABEL)) == 0


def test_the_trained_pieces_go_back_into_the_whole_table():
    model = masked_model("Bert")
    before = model.get_input_embeddings().weight.detach().clone()
    cut_to_pieces(model, PIECES)
    with torch.no_grad():
        model.get_input_embeddings().weight.add_(1)
    put_pieces_back(model, PIECES, before.clone())

    expected = before.clone()
    expected[PIECES] += 1
    torch.testing.assert_close(model.base_model.embeddings.word_embeddings.weight, expected)
    assert model.base_model.config.vocab_size == 53
