import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from statgraph.config import EncoderConfig
from statgraph.encoders import frozen, static
from statgraph.encoders.backbone import EMBEDDED_STATIC, Backbone
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.loading import load_backbone
from statgraph.encoders.static import (
    StaticBiEncoder,
    StaticEncoder,
    TokenBags,
    build_static_biencoder,
    distilled_token_vectors,
    token_bags,
)
from statgraph.errors import ModelError

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


TEXTS = ("the tenant pays rent", "", "Work!", "child " * 50)
CONFIG = EncoderConfig(backbone="x", train="full", max_tokens=12)


@pytest.fixture
def pair(unigram) -> StaticBiEncoder:
    generator = torch.Generator().manual_seed(0)
    n_pieces = unigram.get_vocab_size()
    vectors, weights = torch.randn(n_pieces, 16, generator=generator), torch.rand(n_pieces, generator=generator)
    return StaticBiEncoder(unigram, StaticEncoder(vectors, weights), trained=True, max_tokens=12).eval()


def vectors_of(pair: StaticBiEncoder, texts=TEXTS) -> np.ndarray:
    with torch.no_grad():
        return pair.questions(pair.question_inputs(texts)).numpy()


def test_the_export_is_plain_sentence_transformers(pair, tmp_path):
    pair.save_question_encoder(tmp_path / "query_encoder")
    found = SentenceTransformer(str(tmp_path / "query_encoder"), device="cpu").encode(list(TEXTS))

    np.testing.assert_allclose(found, vectors_of(pair), atol=1e-5)
    modules = json.loads((tmp_path / "query_encoder" / "modules.json").read_text())
    assert [module["type"].rsplit(".", 1)[-1] for module in modules] == ["StaticEmbedding", "Dense", "Normalize"]


def test_what_trains(pair, unigram):
    groups = pair.parameter_groups(lr=0.1, weight_lr=0.2)
    assert [group["lr"] for group in groups] == [0.1, 0.2]
    assert [group["params"][0].shape for group in groups] == [(53, 16), (53,)]
    assert len(pair.question_parameter_groups(lr=0.1, weight_lr=0.2)) == 2
    assert sorted(pair.trained_state()) == ["encoder.vectors", "encoder.weights"]

    frozen = StaticBiEncoder(unigram, pair.encoder, trained=False, max_tokens=12)
    assert frozen.parameter_groups(lr=0.1, weight_lr=0.2) == []
    assert frozen.question_parameter_groups(lr=0.1, weight_lr=0.2) == []
    assert frozen.trained_state() == {}


def test_trained_state_comes_back_and_both_sides_are_one(pair, unigram):
    other = StaticBiEncoder(unigram, StaticEncoder(torch.zeros(53, 16), torch.zeros(53)), trained=True, max_tokens=12)
    other.load_trained_state(pair.trained_state())

    np.testing.assert_array_equal(vectors_of(other.eval()), vectors_of(pair))
    with torch.no_grad():
        np.testing.assert_array_equal(pair.articles(pair.article_inputs(TEXTS)).numpy(), vectors_of(pair))
    assert pair.width == 16


def test_a_static_folder_as_backbone(pair, tmp_path):
    pair.save_question_encoder(tmp_path / "static")
    backbone = resolve_backbone(str(tmp_path / "static"))
    built = build_static_biencoder(backbone, CONFIG, ["the rent"]).eval()

    np.testing.assert_allclose(vectors_of(built), vectors_of(pair), atol=1e-5)
    assert torch.equal(built.encoder.weights, torch.ones(53))


@pytest.mark.parametrize("damage", ["no model.safetensors", "no tokenizer.json", "other weights", "cut weights"])
def test_a_folder_with_a_file_missing_or_damaged(tmp_path, pair, damage):
    folder = tmp_path / "static"
    pair.save_question_encoder(folder)
    (location,) = {path.parent for path in folder.rglob("tokenizer.json")}
    weights = location / "model.safetensors"
    if damage == "other weights":
        save_file({"linear.weight": torch.zeros(2, 2)}, weights)
    elif damage == "cut weights":
        weights.write_bytes(b"cut")
    else:
        (location / damage.removeprefix("no ")).unlink()
    said = f"{weights}: holds no 'embedding.weight'" if "weights" in damage else f"{location}: holds {damage}"

    with pytest.raises(ModelError, match=f"^{said}; name a sentence-transformers StaticEmbedding folder"):
        build_static_biencoder(resolve_backbone(str(folder)), CONFIG, [])


@pytest.fixture
def distilled(tiny_folder, tmp_path, monkeypatch):
    """Return a function that distils from the tiny model under a cache of the test's own."""
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))
    source = Backbone("tiny", "transformer", str(tiny_folder), "mean")

    def build(*texts: str) -> StaticEncoder:
        return build_static_biencoder(Backbone(EMBEDDED_STATIC, "static", "", "mean"), CONFIG, texts, source).encoder

    return build


def cached(tmp_path):
    return sorted((tmp_path / "cache" / "static").iterdir())


def same(one: StaticEncoder, other: StaticEncoder) -> bool:
    return torch.equal(one.vectors, other.vectors) and torch.equal(one.weights, other.weights)


def test_token_vectors_are_distilled_once(distilled, tmp_path, monkeypatch):
    first = distilled("the tenant pays rent")
    assert len(cached(tmp_path)) == 1
    with monkeypatch.context() as patch:
        patch.setattr(static, "load_backbone", lambda backbone: pytest.fail("loaded again"))
        assert same(distilled("the tenant pays rent"), first)
    shutil.rmtree(tmp_path / "cache")
    assert same(distilled("the tenant pays rent"), first)


def test_pieces_are_distilled_from_the_mean_of_their_hidden_states(unigram, tiny_backbone):
    backbone = Backbone(EMBEDDED_STATIC, "static", "", "mean")
    pair = build_static_biencoder(backbone, CONFIG, ["the tenant pays rent"], tiny_backbone)
    pieces = sorted(pair.tokenizer.get_vocab(), key=pair.tokenizer.token_to_id)
    with torch.no_grad():
        ids = torch.tensor([[0, unigram.token_to_id(piece), 2] for piece in pieces])
        raw = load_backbone(tiny_backbone)[1](input_ids=ids).last_hidden_state.mean(dim=1)
        vectors = pair.encoder.vectors
        centred = torch.nn.functional.normalize(raw - raw.mean(dim=0), dim=1)
        torch.testing.assert_close(vectors @ vectors.T, centred @ centred.T, atol=1e-4, rtol=0)


def test_a_piece_that_two_vocabularies_share_is_read_once(distilled, monkeypatch):
    read, embedded = [], frozen.pooled

    def counted(hidden, *given):
        read.append(len(hidden))
        return embedded(hidden, *given)

    monkeypatch.setattr(frozen, "pooled", counted)
    first = distilled("the tenant pays rent")
    n_read = sum(read)
    assert n_read == len(first.vectors)
    more = distilled("the tenant pays rent", "the child")
    assert sum(read) - n_read == len(more.vectors) - len(first.vectors) > 0


def test_other_pieces_counts_or_weights_are_distilled_again(distilled, tmp_path, tiny_folder):
    first = distilled("the tenant pays rent")
    assert not same(distilled("the tenant pays rent rent"), first)
    assert len(distilled("the child").vectors) != len(first.vectors)
    weights = tiny_folder / "model.safetensors"
    save_file({name: 0.5 * tensor for name, tensor in load_file(weights).items()}, weights, metadata={"format": "pt"})
    assert not same(distilled("the tenant pays rent"), first)
    assert len(cached(tmp_path)) == 4


@pytest.mark.usefixtures("e5_folder")
def test_distilled_from_the_embedded_encoder(tmp_path):
    corpus = ["The tenant pays the rent on the first day.", "The landlord repairs the roof.", "An employer hires."]
    backbone = resolve_backbone(EMBEDDED_STATIC)
    pair = build_static_biencoder(backbone, replace(CONFIG, train="none"), corpus).eval()

    assert pair.width == 384
    assert pair.encoder.vectors.shape == (pair.tokenizer.get_vocab_size(), 384)
    question, rent, roof = vectors_of(pair, ["the rent of a tenant", *corpus[:2]])
    assert question @ rent > question @ roof
    the, day = (pair.encoder.weights[pair.tokenizer.token_to_id(piece)] for piece in ("▁the", "▁day"))
    assert the < day
    pair.save_question_encoder(tmp_path / "static")
    texts = [*corpus, "", "quel loyer ?", "roof " * 40]
    found = SentenceTransformer(str(tmp_path / "static"), device="cpu").encode(texts)
    np.testing.assert_allclose(found, vectors_of(pair, texts), atol=1e-5)
