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

from statgraph.training.masking import NO_TOKEN
from statgraph.training.mlm_head import MaskedLanguageModel

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
def test_a_checkpoints_own_head_gives_its_own_logits(family):
    model = masked_model(family)
    ours = MaskedLanguageModel(model, set(), PIECES).eval()
    ids = torch.from_numpy(PIECES)[IDS.clamp(min=0)]
    ids[1, 4] = 1  # the padding piece

    with torch.no_grad():
        theirs = model(input_ids=ids, attention_mask=(IDS != NO_TOKEN).long()).logits.flatten(0, 1)
        torch.testing.assert_close(ours(IDS, PLACES), theirs[PLACES][:, PIECES], atol=1e-6, rtol=0)


def test_a_head_that_the_checkpoint_lacks_is_new():
    model = masked_model("bert")
    missing = {name for name in model.state_dict() if name.startswith("cls.")}
    new = MaskedLanguageModel(model, missing, PIECES)

    assert new.head.bias.tolist() == [0.0] * 7
    assert new.head.norm.weight.tolist() == [1.0] * 32
    assert not torch.equal(new.head.dense.weight, model.cls.predictions.transform.dense.weight)
    assert new.head.dense.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert new(IDS, PLACES).shape == (3, 7)


def test_what_trains_is_the_encoder_the_head_and_the_corpuss_pieces():
    model = MaskedLanguageModel(masked_model("bert"), set(), PIECES)
    model(IDS, PLACES).square().sum().backward()

    reached = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert reached == set(model.trained_state())
    assert {"pieces", "head.bias", "head.dense.weight", "encoder.embeddings.position_embeddings.weight"} < reached
    assert "encoder.embeddings.word_embeddings.weight" not in reached


def test_the_trained_pieces_go_back_into_the_whole_table():
    model = MaskedLanguageModel(masked_model("bert"), set(), PIECES)
    before = model.encoder.embeddings.word_embeddings.weight.detach().clone()
    with torch.no_grad():
        model.pieces += 1
    after = model.trained_encoder().embeddings.word_embeddings.weight

    torch.testing.assert_close(after[PIECES], before[PIECES] + 1)
    others = np.setdiff1d(np.arange(53), PIECES)
    assert torch.equal(after[others], before[others])


def test_trained_state_comes_back():
    one, other = (MaskedLanguageModel(masked_model("bert"), set(), PIECES) for _ in range(2))
    with torch.no_grad():
        for parameter in one.trained_state().values():
            parameter += 0.1 * torch.randn_like(parameter)
    assert not torch.equal(one.eval()(IDS, PLACES), other.eval()(IDS, PLACES))
    other.load_trained_state(one.trained_state())

    assert torch.equal(one.eval()(IDS, PLACES), other.eval()(IDS, PLACES))
