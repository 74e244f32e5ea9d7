import pytest
import torch
from torch import nn
from transformers import AutoModel, DistilBertConfig, DistilBertModel, MPNetConfig, MPNetModel

from statgraph.encoders.split_model import freeze_lower, layers_of, split_model
from statgraph.errors import ModelError

IDS = torch.tensor([[2, 5, 7, 3], [2, 9, 3, 1]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])


@pytest.fixture
def model(tiny_folder):
    return AutoModel.from_pretrained(tiny_folder).eval()


def distilbert():
    config = DistilBertConfig(vocab_size=53, dim=32, n_layers=3, n_heads=4, hidden_dim=64, max_position_embeddings=64)
    return DistilBertModel(config).eval()


def mpnet():
    config = MPNetConfig(
        vocab_size=53, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64
    )
    return MPNetModel(config).eval()


def after_both(lower, upper):
    states = lower(input_ids=IDS, attention_mask=MASK).last_hidden_state
    return upper(inputs_embeds=states, attention_mask=MASK).last_hidden_state


@pytest.mark.parametrize("n_upper", [1, 2, 3, 9])
def test_both_parts_give_what_the_model_gives(model, n_upper):
    lower, upper = split_model(model, n_upper)
    assert [len(layers_of(part)) for part in (lower, upper)] == [max(0, 3 - n_upper), min(3, n_upper)]
    whole = model(input_ids=IDS, attention_mask=MASK).last_hidden_state
    torch.testing.assert_close(after_both(lower, upper)[MASK.bool()], whole[MASK.bool()])


@pytest.mark.parametrize("family", [distilbert, mpnet])
def test_other_families_are_cut_as_well(family):
    model = family()
    whole = model(input_ids=IDS, attention_mask=MASK).last_hidden_state
    torch.testing.assert_close(after_both(*split_model(model, 1))[MASK.bool()], whole[MASK.bool()])


def test_the_model_stays_whole_and_shares_its_weights(model):
    before = model(input_ids=IDS, attention_mask=MASK).last_hidden_state
    _, upper = split_model(model, 1)
    assert torch.equal(model(input_ids=IDS, attention_mask=MASK).last_hidden_state, before)
    with torch.no_grad():
        model.encoder.layer[2].output.dense.bias.add_(1.0)
    assert upper.encoder.layer[0].output.dense.bias is model.encoder.layer[2].output.dense.bias
    assert not torch.equal(model(input_ids=IDS, attention_mask=MASK).last_hidden_state, before)


@pytest.mark.parametrize("training", [True, False])
def test_the_model_stays_in_its_mode(model, training):
    model.train(training)
    split_model(model, 1)
    assert {module.training for module in model.modules()} == {training}


class Doubled(nn.Module):
    """A family that adds something between its embeddings and its layers: the upper part would add it again."""

    def __init__(self, model):
        super().__init__()
        self.embeddings, self.encoder, self.config = model.embeddings, model.encoder, model.config

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None):
        return self.encoder(self.embeddings(input_ids=input_ids, inputs_embeds=inputs_embeds) + torch.arange(32.0))


def test_a_family_that_cannot_be_cut_is_left_whole(model):
    assert split_model(Doubled(model), 1) is None


def test_layers_that_are_nowhere_known():
    with pytest.raises(
        ModelError, match=r"^encoder.train: the layers of a Linear are not known; use none, head or full$"
    ):
        layers_of(nn.Linear(2, 2))


@pytest.mark.parametrize(("n_upper", "training"), [(1, {2}), (2, {1, 2}), (9, {0, 1, 2})])
def test_only_the_last_layers_have_gradients(model, n_upper, training):
    freeze_lower(model, n_upper)
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    assert {name.split(".")[2] for name in names} == {str(layer) for layer in training}
    assert all(name.startswith("encoder.layer.") for name in names)
