from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from statgraph.config import EncoderConfig
from statgraph.encoders import slices
from statgraph.encoders.chunking import ChunkTokens
from statgraph.encoders.slices import bytes_per_token, padded_tokens, slice_tokens, token_slices
from statgraph.encoders.transformer_biencoder import build_transformer_biencoder

CPU = torch.device("cpu")
QUESTIONS = ("who pays the rent", "a child at work", "rent")
ARTICLES = ("the tenant pays the rent to the landlord at work", "rent", "", "the child " * 20)
CONFIG = EncoderConfig(backbone="tiny", train="full", chunk_tokens=12, max_tokens=48)


@pytest.fixture
def gradients(tiny_backbone):
    """Return a function that gives (loss, gradients by name) of an in-batch contrastive loss, a slice having so many
    tokens at most, and how often a tower ran."""

    def work_out(most_tokens, *, dropout=False, device=CPU):
        torch.manual_seed(0)
        config = replace(CONFIG, slice_tokens=most_tokens, article_dropout=0.0)
        pair = build_transformer_biencoder(tiny_backbone, config, (), device).to(device).train(dropout)
        runs = []
        for tower in (pair.query_model, pair.article_model):
            tower.register_forward_hook(lambda *_: runs.append(torch.is_grad_enabled()))
        torch.manual_seed(5)
        questions = pair.questions(pair.question_inputs(QUESTIONS).to(device))
        articles = pair.articles(pair.article_inputs(ARTICLES).to(device))
        loss = torch.nn.functional.cross_entropy(questions @ articles.T / 0.1, torch.tensor([0, 3, 1], device=device))
        loss.backward()
        return loss.item(), {name: p.grad for name, p in pair.named_parameters() if p.grad is not None}, len(runs)

    return work_out


def test_slices_give_the_gradients_of_the_whole(gradients):
    whole, in_slices = gradients(0), gradients(24)
    assert (whole[2], in_slices[2] > 6) == (2, True)
    assert in_slices[0] == pytest.approx(whole[0], abs=1e-6)
    assert in_slices[1].keys() == whole[1].keys()
    for name, gradient in whole[1].items():
        torch.testing.assert_close(in_slices[1][name], gradient, atol=1e-5, rtol=1e-5)


def test_a_slice_is_encoded_again_with_the_same_dropout(gradients, monkeypatch):
    again = gradients(24, dropout=True)
    monkeypatch.setattr(slices, "checkpoint", lambda encode, part, use_reentrant: encode(part))
    once = gradients(24, dropout=True)
    assert again[2] == 2 * once[2]
    assert again[0] == once[0] != pytest.approx(gradients(24)[0], abs=1e-4)
    for name, gradient in once[1].items():
        torch.testing.assert_close(again[1][name], gradient, atol=1e-5, rtol=1e-5)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_slices_on_cuda(gradients, monkeypatch):
    device = torch.device("cuda")
    whole, in_slices = gradients(0, device=device), gradients(24, device=device)
    for name, gradient in whole[1].items():
        torch.testing.assert_close(in_slices[1][name], gradient, atol=1e-4, rtol=1e-3)
    again = gradients(24, dropout=True, device=device)
    monkeypatch.setattr(slices, "checkpoint", lambda encode, part, use_reentrant: encode(part))
    once = gradients(24, dropout=True, device=device)
    for name, gradient in once[1].items():
        torch.testing.assert_close(again[1][name], gradient, atol=1e-4, rtol=1e-3)


def test_chunks_in_slices_by_hand():
    inputs = ChunkTokens([[1] * 5, [2], [3] * 3, [4], [5] * 2], np.array([0, 2, 5]), 0, CPU)
    cut = list(token_slices(inputs, 6))
    # By length 1, 1, 2, 3, 5: three of 2 are 6 tokens, 3 is alone since two of 5 would be 10.
    assert [places for places, _ in cut] == [[1, 3, 4], [2], [0]]
    assert [part.chunk_ids for _, part in cut] == [[[2], [4], [5, 5]], [[3, 3, 3]], [[1] * 5]]
    assert [part.offsets.tolist() for _, part in cut] == [[0, 1, 2, 3], [0, 1], [0, 1]]
    assert padded_tokens(inputs) == 25
    assert padded_tokens(ChunkTokens([], np.array([0]), 0, CPU)) == 0


@pytest.fixture(scope="module")
def camembert_base():
    return BertConfig(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072)


def test_bytes_of_a_token_by_hand(camembert_base):
    assert bytes_per_token(camembert_base) == 12 * (16 * 768 + 4 * 3072 + 10 * 768) == 387_072


@pytest.mark.parametrize(
    ("setting", "device", "gib", "limit"),
    [
        # 18 GiB of 24, less 3.96 GB of 220M parameters, in four parts of 387,072 bytes a token.
        (-1, "cuda", 24, 9_925),
        (-1, "cuda", 1, 1024),
        (0, "cuda", 24, 0),
        (500, "cuda", 24, 500),
        (-1, "cpu", 24, 0),
        (500, "cpu", 24, 500),
    ],
)
def test_what_fits_into_a_device(camembert_base, monkeypatch, setting, device, gib, limit):
    monkeypatch.setattr(slices, "device_memory", lambda device: gib * 2**30)
    config = replace(CONFIG, slice_tokens=setting)
    assert slice_tokens(config, camembert_base, torch.device(device), n_parameters=220_000_000) == limit


def test_slices_hold_one_slice_at_a_time(bytes_held):
    about = BertConfig(
        vocab_size=50, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertModel(about, add_pooling_layer=False).train()
    inputs = ChunkTokens([[7] * 32] * 32, np.arange(33), 0, CPU)

    def encode(part):
        ids, mask = part.padded()
        return model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]

    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    whole = bytes_held(lambda: encode(inputs).sum().backward())[1]
    in_slices = bytes_held(lambda: slices.in_slices(encode, token_slices(inputs, 128)).sum().backward())[1]
    assert in_slices < 0.25 * whole  # an eighth, and the vectors
