from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModel, DistilBertConfig, DistilBertModel, MPNetConfig, MPNetModel

from statgraph import dropout
from statgraph.encoders import layer_states
from statgraph.encoders import split_model as module
from statgraph.encoders.chunking import Chunks, chunked
from statgraph.encoders.frozen import padded, pooled
from statgraph.encoders.split_model import UpperLayers, freeze_lower, layers_of, lower_states, split_model
from statgraph.encoders.tower import Tower, loaded_tower
from statgraph.errors import ModelError

pytestmark = pytest.mark.usefixtures("own_cache")
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
    with pytest.raises(ModelError, match=r"^encoder\.train: .*Linear .* none, head or full"):
        layers_of(nn.Linear(2, 2))


@pytest.mark.parametrize(("n_upper", "training"), [(1, {2}), (2, {1, 2}), (9, {0, 1, 2})])
def test_only_the_last_layers_have_gradients(model, n_upper, training):
    freeze_lower(model, n_upper)
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    assert {name.split(".")[2] for name in names} == {str(layer) for layer in training}
    assert all(name.startswith("encoder.layer.") for name in names)


ARTICLES = ("the tenant pays the rent to the landlord at work", "rent", "", "the child " * 20)
PAD_ID = 1


@pytest.fixture
def tower(tiny_backbone) -> Tower:
    return loaded_tower(tiny_backbone, torch.float32)


@pytest.fixture
def chunks(tower) -> Chunks:
    return chunked(tower.tokenizer.backend_tokenizer, ARTICLES, prefix="", chunk_tokens=12, max_tokens=48)


@pytest.fixture
def last(tower) -> UpperLayers:
    """Return the tiny model's last layer, in evaluation mode."""
    return UpperLayers.of({"model": tower.model}, 1, torch.float32)


def last_output(tower: Tower) -> torch.nn.Linear:
    return tower.model.encoder.layer[-1].output.dense


@pytest.mark.parametrize("n_upper", [1, 2, 9])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_they_go_on_from_what_the_others_gave(tower, chunks, n_upper, pooling):
    uppers = UpperLayers.of({"other": tower.model, "model": tower.model}, n_upper, torch.float32)
    found = uppers.vectors(lower_states(tower, chunks, n_upper), "model", pooling)
    ids, mask = padded(chunks.ids, PAD_ID)
    whole = pooled(tower.model(input_ids=ids, attention_mask=mask).last_hidden_state, mask, pooling)

    torch.testing.assert_close(found, whole, atol=2e-3, rtol=0)  # states are float16


def test_a_model_that_cannot_be_cut(tower, monkeypatch):
    monkeypatch.setattr(module, "split_model", lambda model, n_upper: None)
    assert UpperLayers.of({"model": tower.model}, 1, torch.float32) is None


def test_states_report_their_progress(tower, chunks):
    seen = []
    lower_states(tower, chunks, 1, progress=lambda *at: seen.append(at))
    assert seen[-1] == (len(chunks.ids), len(chunks.ids))


def test_states_are_computed_once(tower, chunks, monkeypatch, tmp_path):
    first = lower_states(tower, chunks, 1).states
    monkeypatch.setattr(layer_states, "token_batches", lambda *chunks: pytest.fail("computed again"))
    with torch.no_grad():
        last_output(tower).weight.add_(1.0)  # of a layer above
    again = lower_states(tower, chunks, 1).states

    assert len(list((tmp_path / "cache" / "layers").iterdir())) == 1
    assert all(np.array_equal(first.chunk(row), again.chunk(row)) for row in range(len(first)))
    with pytest.raises(pytest.fail.Exception, match="computed again"):
        lower_states(tower, chunks, 2)


def test_half_precision_leaves_the_model_as_it_is(tower, chunks):
    half = replace(tower, dtype=torch.bfloat16)
    states = lower_states(half, chunks, 1)
    vectors = UpperLayers.of({"model": tower.model}, 1, torch.bfloat16).vectors(states, "model", "mean")
    exact = UpperLayers.of({"model": tower.model}, 1, torch.float32).vectors(states, "model", "mean")

    assert {parameter.dtype for parameter in tower.model.parameters()} == {torch.float32}
    assert vectors.dtype == torch.float32
    assert 0 < (vectors - exact).abs().max() < 0.1


def test_chunks_are_taken_in_parts(tower, chunks, last, monkeypatch):
    states = lower_states(tower, chunks, 1)
    found = {}
    for most_tokens in (1, 10_000):  # each chunk alone, and all together
        monkeypatch.setattr(module, "_TOKENS_PER_PART", most_tokens)
        vectors = last.vectors(states, "model", "mean")
        (gradient,) = torch.autograd.grad(vectors[:, 0].sum(), last_output(tower).weight)
        found[most_tokens] = vectors.detach(), gradient

    for alone, together in zip(found[1], found[10_000], strict=True):
        torch.testing.assert_close(alone, together, atol=2e-3, rtol=0)
    assert found[1][1].abs().max() > 0.01


def test_they_leave_out_as_cheap_dropout_does(tower, chunks, last, monkeypatch):
    states = lower_states(tower, chunks, 1)
    settled = last.vectors(states, "model", "mean").detach()
    called = []

    def all_stay(shape, share, dtype):
        called.append(share)
        return torch.ones(shape, dtype=dtype), 1.0

    monkeypatch.setattr(dropout, "kept", all_stay)
    tower.model.train()
    vectors = last.vectors(states, "model", "mean")

    torch.testing.assert_close(vectors.detach(), settled)
    assert called == [0.1] * 3  # one part, one layer: the attention's weights, its output and the layer's
    vectors.sum().backward()  # what was left out is found again where parts are computed anew
    assert called == [0.1] * 6


def test_a_gradient_is_of_the_dropout_that_gave_the_vectors(tower, chunks, last):
    states = lower_states(tower, chunks, 1)
    tower.model.train()
    bias = last_output(tower).bias

    def total():
        torch.manual_seed(5)
        return last.vectors(states, "model", "mean").pow(3).sum()

    (gradient,) = torch.autograd.grad(total(), bias)
    step = torch.zeros_like(bias)
    step[3] = 0.01
    with torch.no_grad():
        bias += step
        above = total()
        bias -= 2 * step
        below = total()
    assert gradient[3].item() == pytest.approx((above - below).item() / 0.02, rel=0.02, abs=1e-3)


@pytest.mark.parametrize("most_tokens", [1, 4096])
def test_memory_is_given_back_part_by_part(tower, chunks, last, monkeypatch, most_tokens):
    states = lower_states(tower, chunks, 1)
    monkeypatch.setattr(module, "_TOKENS_PER_PART", most_tokens)
    given = []
    monkeypatch.setattr(last._freed_memory, "give_back", lambda: given.append(1))
    last.vectors(states, "model", "mean")
    assert len(given) == len(list(states.parts(most_tokens)))
