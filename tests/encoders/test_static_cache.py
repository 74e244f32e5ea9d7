import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from statgraph.encoders import static_cache
from statgraph.encoders.static_cache import cached_token_bags, read_distillate, texts_digest, write_distillate

TEXTS = ["a b", "", "b b a"]


@pytest.fixture
def tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel({"?": 0, "a": 1, "b": 2}, unk_token="?"))
    made.pre_tokenizer = Whitespace()
    return made


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(static_cache, "FEWEST_TEXTS", 2)


def test_texts_are_told_apart():
    digests = {texts_digest(texts) for texts in ([], [""], ["", ""], ["ab"], ["a", "b"], ["b", "a"], ["\ud800"])}
    assert len(digests) == 7
    assert texts_digest(["a", "b"]) == texts_digest(("a", "b"))


def test_a_distillate_comes_back(tmp_path, tokenizer):
    vectors, weights = torch.arange(6.0).view(3, 2), torch.tensor([0.5, 1.0, 2.0])
    write_distillate(tmp_path / "x.safetensors", tokenizer, vectors, weights)
    other, read_vectors, read_weights = read_distillate(tmp_path / "x.safetensors")
    assert other.encode("b a").ids == [2, 1]
    assert torch.equal(read_vectors, vectors)
    assert torch.equal(read_weights, weights)


@pytest.mark.parametrize("rows", [2, 4])
def test_a_distillate_of_other_pieces_is_none(tmp_path, tokenizer, rows):
    write_distillate(tmp_path / "x", tokenizer, torch.zeros(rows, 2), torch.zeros(rows))
    assert read_distillate(tmp_path / "x") is None
    assert read_distillate(tmp_path / "none") is None


def test_bags_are_tokenised_once(tmp_path, tokenizer, monkeypatch):
    first = cached_token_bags(tokenizer, TEXTS, max_tokens=8, folder=tmp_path)
    assert (first.ids.tolist(), first.offsets.tolist()) == ([1, 2, 2, 2, 1], [0, 2, 2, 5])
    with monkeypatch.context() as patch:
        patch.setattr(static_cache, "token_bags", lambda *_, **__: pytest.fail("tokenised again"))
        again = cached_token_bags(tokenizer, TEXTS, max_tokens=8, folder=tmp_path)
    assert (again.ids.tolist(), again.ids.dtype) == (first.ids.tolist(), torch.int64)
    assert again.offsets.tolist() == first.offsets.tolist()


def test_other_texts_lengths_or_tokenizers_are_other_bags(tmp_path, tokenizer):
    cached_token_bags(tokenizer, TEXTS, max_tokens=8, folder=tmp_path)
    assert cached_token_bags(tokenizer, TEXTS, max_tokens=1, folder=tmp_path).ids.tolist() == [1, 2]
    assert cached_token_bags(tokenizer, TEXTS[::-1], max_tokens=8, folder=tmp_path).ids.tolist() == [2, 2, 1, 1, 2]
    tokenizer.add_tokens(["b a"])
    assert cached_token_bags(tokenizer, TEXTS, max_tokens=8, folder=tmp_path).ids.tolist() == [1, 2, 2, 3]
    assert len(list(tmp_path.iterdir())) == 4


def test_damaged_bags_are_tokenised_again(tmp_path, tokenizer):
    first = cached_token_bags(tokenizer, TEXTS, max_tokens=8, folder=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:40])
    assert cached_token_bags(tokenizer, TEXTS, max_tokens=8, folder=tmp_path).ids.tolist() == first.ids.tolist()


def test_a_few_texts_leave_no_file(tmp_path, tokenizer):
    assert cached_token_bags(tokenizer, TEXTS[:1], max_tokens=8, folder=tmp_path).ids.tolist() == [1, 2]
    assert list(tmp_path.iterdir()) == []
