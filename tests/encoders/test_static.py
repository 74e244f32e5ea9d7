import numpy as np
import torch

from statgraph.encoders.static import StaticEncoder, TokenBags, distilled_token_vectors, token_bags

CPU = torch.device("cpu")


def bags(*texts: list[int]) -> TokenBags:
    lengths = torch.tensor([0, *map(len, texts)])
    return TokenBags(torch.tensor([piece for text in texts for piece in text], dtype=torch.int64), lengths.cumsum(0))


def test_take_by_hand():
    texts = bags([1, 2, 3], [], [4], [5, 6])
    taken = texts.take(torch.tensor([3, 1, 0, 3])).to(CPU)

    assert taken.ids.tolist() == [5, 6, 1, 2, 3, 5, 6]
    assert taken.offsets.tolist() == [0, 2, 2, 5, 7]
    assert len(taken) == 4
    nothing = texts.take(torch.tensor([], dtype=torch.int64))
    assert (len(nothing), nothing.ids.tolist(), nothing.offsets.tolist()) == (0, [], [0])


def test_texts_as_bags(unigram):
    found = token_bags(unigram, ["the rent", "", "pays the landlord work"], max_tokens=3)

    words = [unigram.token_to_id(f"▁{word}") for word in ("the", "rent", "pays", "the", "landlord")]
    assert found.ids.tolist() == words  # no special tokens, "work" is the fourth
    assert found.offsets.tolist() == [0, 2, 2, 5]
    assert found.ids.dtype == found.offsets.dtype == torch.int64
    assert token_bags(unigram, [], max_tokens=3).offsets.tolist() == [0]


def test_forward_by_hand():
    encoder = StaticEncoder(torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([3.0, 2.0])).eval()

    expected = torch.tensor([[0.6, 0.8], [0.0, 1.0], [12 / 13, 5 / 13]])  # (3, 4) / 5; (0, 8) / 8; (48, 20) / 52
    torch.testing.assert_close(encoder(bags([0, 1], [1, 1], [0] * 16 + [1] * 5)), expected)
    assert encoder.width == 2


def test_an_empty_text_has_unit_length():
    encoder = StaticEncoder(torch.randn(3, 4), torch.ones(3))
    found = encoder(bags([], [1], []))

    torch.testing.assert_close(found.norm(dim=1), torch.ones(3))
    torch.testing.assert_close(found[0], torch.full((4,), 0.5))
    torch.testing.assert_close(found[0], found[2])


def test_tokens_are_dropped_in_training_only():
    torch.manual_seed(0)
    encoder = StaticEncoder(torch.eye(64), torch.ones(64), token_dropout=0.5)
    text = bags(list(range(64)))
    whole = torch.full((1, 64), 0.125)

    encoder.eval()
    torch.testing.assert_close(encoder(text), whole)
    encoder.train()
    kept = (encoder(text) > 1e-4).sum()
    assert 16 < kept < 48
    encoder.token_dropout = 0.0
    torch.testing.assert_close(encoder(text), whole)


def test_weights_of_frequent_tokens_by_hand():
    _, weights = distilled_token_vectors(torch.eye(4), np.array([96, 3, 1, 0]))

    # 0.001 / (0.001 + share); a token that does not occur counts as if it did once
    torch.testing.assert_close(weights, torch.tensor([1 / 961, 1 / 31, 1 / 11, 1 / 11]))


def test_distilled_vectors():
    pieces, counts = torch.randn(5, 32, generator=torch.Generator().manual_seed(0)), np.ones(5, dtype=np.int64)
    vectors, weights = distilled_token_vectors(pieces, counts)
    again, _ = distilled_token_vectors(pieces, counts)

    assert vectors.shape == (5, 32)
    assert vectors.dtype == weights.dtype == torch.float32
    assert torch.equal(vectors, again)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(5))
    # The axes are turned, no more: angles between pieces are as they were with their mean removed.
    centred = torch.nn.functional.normalize(pieces - pieces.mean(dim=0), dim=1)
    torch.testing.assert_close(vectors @ vectors.T, centred @ centred.T, atol=1e-4, rtol=0)
