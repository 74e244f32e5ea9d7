import numpy as np
import pytest
import torch

from statgraph.encoders.chunking import ChunkTokens, ChunkVectors, chunked
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


def test_more_texts_than_a_batch(unigram):
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


def test_vectors_of_some_rows():
    inputs = ChunkVectors(torch.arange(6.0).unsqueeze(1), OFFSETS)
    taken = inputs.take(torch.tensor([2, 0, 2]))

    assert taken.vectors[:, 0].tolist() == [3, 4, 5, 0, 1, 3, 4, 5]
    assert taken.offsets.tolist() == [0, 3, 5, 8]
    assert (len(inputs), len(taken)) == (3, 3)


def test_tokens_of_some_rows():
    taken = CHUNKS.take(torch.tensor([1, 0]))

    assert taken.chunk_ids == [(10,), (7,), (8, 9)]
    assert taken.offsets.tolist() == [0, 1, 3]


def test_padding():
    ids, mask = CHUNKS.take(torch.tensor([2])).padded()

    assert ids.tolist() == [[11, 12, 13], [14, 1, 1], [15, 16, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]
    assert ids.dtype == mask.dtype == torch.int64
