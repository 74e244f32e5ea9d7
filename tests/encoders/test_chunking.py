from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from statgraph.config import EncoderConfig
from statgraph.encoders import chunking
from statgraph.encoders.chunking import (
    ChunkTokens,
    ChunkVectors,
    bytes_per_token,
    chunked,
    in_slices,
    slice_tokens,
    tokens_at_once,
)
from statgraph.encoders.transformer_biencoder import build_transformer_biencoder
from statgraph.errors import UsageError

LETTERS = "abcdefghij"  # each is the two pieces "▁" and itself when a space stands before it


@pytest.fixture
def tokens(unigram):
    """Return a function from texts, prefix and sizes to (the chunks, their pieces joined by spaces; the offsets)."""

    def cut(texts, prefix, chunk_tokens, max_tokens):
        chunks = chunked(unigram, texts, prefix=prefix, chunk_tokens=chunk_tokens, max_tokens=max_tokens)
        return [" ".join(map(unigram.id_to_token, chunk)) for chunk in chunks.chunk_ids], chunks.offsets.tolist()

    return cut


def test_a_tokenizer_that_cuts_and_pads_by_itself(unigram, tokens):
    plain = tokens([LETTERS, "ab"], "", 6, 18)
    unigram.enable_truncation(4)
    unigram.enable_padding(length=9)
    assert tokens([LETTERS, "ab"], "", 6, 18) == plain


@pytest.mark.parametrize(
    ("texts", "sizes", "chunks", "offsets"),
    [
        # 11 pieces ("▁" and ten letters) in chunks of 6 - 2 special ones
        (
            [LETTERS, "ab"],
            ("", 6, 18),
            ["<s> ▁ a b c </s>", "<s> d e f g </s>", "<s> h i j </s>", "<s> ▁ a b </s>"],
            [0, 3, 4],
        ),
        (
            ["abcd"],
            ("query: ", 6, 60),
            ["<s> ▁query : ▁ a </s>", "<s> ▁query : b c </s>", "<s> ▁query : d </s>"],
            [0, 3],
        ),
        (["abc"], ("", 6, 60), ["<s> ▁ a b c </s>"], [0, 1]),
        ([LETTERS], ("", 128, 5), ["<s> ▁ a b </s>"], [0, 1]),
        (["", "  ", "a"], ("query: ", 8, 80), [*["<s> ▁query : </s>"] * 2, "<s> ▁query : ▁ a </s>"], [0, 1, 2, 3]),
        ([], ("", 6, 60), [], [0]),
    ],
    ids=["by hand", "prefix", "full chunk", "max_tokens below", "empty texts", "no texts"],
)
def test_boundaries_by_hand(tokens, texts, sizes, chunks, offsets):
    assert tokens(texts, *sizes) == (chunks, offsets)


def test_a_prefix_reads_as_if_it_stood_in_the_text(tokens, unigram):
    assert tokens(["the rent"], "query: ", 20, 20)[0] == [" ".join(unigram.encode("query: the rent").tokens)]


@pytest.mark.parametrize(("max_tokens", "n_chunks"), [(6, 1), (11, 1), (12, 2), (17, 2), (18, 3), (600, 3)])
def test_no_more_than_max_tokens(tokens, max_tokens, n_chunks):
    found, _ = tokens([LETTERS], "", 6, max_tokens)

    assert len(found) == n_chunks
    assert sum(len(chunk.split()) for chunk in found) <= max_tokens


def test_more_texts_than_a_batch(unigram, monkeypatch):
    monkeypatch.setattr("statgraph.encoders.vocabulary._BATCH", 1000)
    texts = ["ab" * (i % 3) for i in range(2500)]
    chunks = chunked(unigram, texts, prefix="", chunk_tokens=5, max_tokens=10)

    assert len(chunks) == 2500
    assert chunks.offsets.tolist()[:4] == [0, 1, 2, 4]  # 0, 3 and 5 pieces, three to a chunk
    assert chunks.offsets[-1] == len(chunks.chunk_ids)


@pytest.mark.parametrize("sizes", [{"chunk_tokens": 4, "max_tokens": 40}, {"chunk_tokens": 4, "max_tokens": 4}])
def test_no_room_for_text(unigram, sizes):
    with pytest.raises(UsageError, match=r"^encoder\.chunk_tokens: 4 leaves no room .* at least 5"):
        chunked(unigram, ["a"], prefix="query: ", **sizes)


OFFSETS = np.array([0, 2, 3, 6])  # three texts of two, one and three chunks
CHUNKS = ChunkTokens(((7,), (8, 9), (10,), (11, 12, 13), (14,), (15, 16)), OFFSETS, pad_id=1)


def test_some_rows_of_vectors_and_of_tokens():
    inputs = ChunkVectors(torch.arange(6.0).unsqueeze(1), OFFSETS)
    taken = inputs.take(torch.tensor([2, 0, 2]))
    assert taken.vectors[:, 0].tolist() == [3, 4, 5, 0, 1, 3, 4, 5]
    assert taken.offsets.tolist() == [0, 3, 5, 8]
    assert (len(inputs), len(taken)) == (3, 3)

    taken = CHUNKS.take(torch.tensor([1, 0]))
    assert taken.chunk_ids == [(10,), (7,), (8, 9)]
    assert taken.offsets.tolist() == [0, 1, 3]


def test_padding():
    ids, mask = CHUNKS.take(torch.tensor([2])).padded()

    assert ids.tolist() == [[11, 12, 13], [14, 1, 1], [15, 16, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]
    assert ids.dtype == mask.dtype == torch.int64


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
    whole, sliced = gradients(0), gradients(24)
    assert (whole[2], sliced[2] > 6) == (2, True)
    assert sliced[0] == pytest.approx(whole[0], abs=1e-6)
    assert sliced[1].keys() == whole[1].keys()
    for name, gradient in whole[1].items():
        torch.testing.assert_close(sliced[1][name], gradient, atol=1e-5, rtol=1e-5)


def test_a_slice_is_encoded_again_with_the_same_dropout(gradients, monkeypatch):
    again = gradients(24, dropout=True)
    monkeypatch.setattr(chunking, "checkpoint", lambda encode, *part, use_reentrant: encode(*part))
    once = gradients(24, dropout=True)
    assert again[2] == 2 * once[2]
    assert again[0] == once[0] != pytest.approx(gradients(24)[0], abs=1e-4)
    for name, gradient in once[1].items():
        torch.testing.assert_close(again[1][name], gradient, atol=1e-5, rtol=1e-5)


def test_torch_sees_the_device_whose_random_state_a_slice_needs_again(monkeypatch):
    seen = []

    def checkpoint(encode, *part, use_reentrant):
        seen.extend(each.device for each in part)
        return torch.zeros(1, 2)

    monkeypatch.setattr(chunking, "checkpoint", checkpoint)
    elsewhere = torch.device("meta")
    in_slices(lambda ids, mask: None, ChunkTokens([[1] * 5, [2] * 4], np.arange(3), 0, elsewhere), 5)
    assert seen == [elsewhere] * 4  # ids and mask of two slices


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_slices_on_cuda(gradients, monkeypatch):
    device = torch.device("cuda")
    whole, sliced = gradients(0, device=device), gradients(24, device=device)
    for name, gradient in whole[1].items():
        torch.testing.assert_close(sliced[1][name], gradient, atol=1e-4, rtol=1e-3)
    again = gradients(24, dropout=True, device=device)
    monkeypatch.setattr(chunking, "checkpoint", lambda encode, *part, use_reentrant: encode(*part))
    once = gradients(24, dropout=True, device=device)
    for name, gradient in once[1].items():
        torch.testing.assert_close(again[1][name], gradient, atol=1e-4, rtol=1e-3)


def test_slices_by_hand():
    inputs = ChunkTokens([[1] * 5, [2], [3] * 3, [4], [5] * 2], np.array([0, 2, 5]), 0, CPU)
    seen = []

    def encode(ids, mask):
        seen.append((ids.tolist(), mask.sum(dim=1).tolist()))
        return ids[:, :1].float()

    # By length 1, 1, 2, 3, 5: three of 2 are 6 tokens, 3 is alone since two of 5 would be 10.
    assert in_slices(encode, inputs, 6).flatten().tolist() == [1, 2, 3, 4, 5]
    assert seen == [([[2, 0], [4, 0], [5, 5]], [1, 1, 2]), ([[3, 3, 3]], [3]), ([[1] * 5], [5])]
    seen.clear()
    assert in_slices(encode, inputs, 25).flatten().tolist() == [1, 2, 3, 4, 5]
    assert len(seen) == 1


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
    monkeypatch.setattr(chunking, "device_memory", lambda device: gib * 2**30)
    config = replace(CONFIG, slice_tokens=setting)
    assert slice_tokens(config, camembert_base, torch.device(device), n_parameters=220_000_000) == limit


@pytest.mark.parametrize(
    ("device", "free", "tokens"),
    [
        # A quarter of 1 GiB by 32,256 bytes a token of one layer; then the most, and the least.
        ("cuda", 2**30, 8_322),
        ("cuda", 40 * 2**30, 131_072),
        ("cuda", 2**20, 8_192),
        ("cpu", 0, 8_192),
    ],
)
def test_how_many_tokens_a_frozen_transformer_reads_at_once(camembert_base, monkeypatch, device, free, tokens):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 80 * 2**30))
    assert tokens_at_once(camembert_base, torch.device(device)) == tokens


def test_slices_hold_one_slice_at_a_time(bytes_held):
    about = BertConfig(
        vocab_size=50, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertModel(about, add_pooling_layer=False).train()
    inputs = ChunkTokens([[7] * 32] * 32, np.arange(33), 0, CPU)

    def encode(ids, mask):
        return model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]

    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    whole = bytes_held(lambda: in_slices(encode, inputs, 0).sum().backward())[1]
    sliced = bytes_held(lambda: in_slices(encode, inputs, 128).sum().backward())[1]
    assert sliced < 0.25 * whole  # an eighth, and the vectors
