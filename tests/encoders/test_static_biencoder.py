import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from statgraph.config import EncoderConfig
from statgraph.encoders import frozen, static_biencoder
from statgraph.encoders.backbone import EMBEDDED_STATIC, Backbone
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.loading import load_backbone
from statgraph.encoders.static import StaticEncoder
from statgraph.encoders.static_biencoder import StaticBiEncoder, build_static_biencoder
from statgraph.errors import ModelError, UsageError

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


@pytest.mark.parametrize("train", ["head", "last-2", "ful"])
def test_an_unfit_regime(tmp_path, pair, train):
    pair.save_question_encoder(tmp_path / "static")

    with pytest.raises(UsageError, match=rf"encoder\.train: .*static.*'{train}'"):
        build_static_biencoder(resolve_backbone(str(tmp_path / "static")), replace(CONFIG, train=train), [])


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
        patch.setattr(static_biencoder, "load_backbone", lambda backbone: pytest.fail("loaded again"))
        assert same(distilled("the tenant pays rent"), first)
    shutil.rmtree(tmp_path / "cache")
    assert same(distilled("the tenant pays rent"), first)


def test_pieces_are_distilled_from_the_mean_of_their_hidden_states(unigram, tiny_backbone):
    static = Backbone(EMBEDDED_STATIC, "static", "", "mean")
    pair = build_static_biencoder(static, CONFIG, ["the tenant pays rent"], tiny_backbone)
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
