import logging

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from statgraph.config import EncoderConfig
from statgraph.encoders.building import build_biencoder
from statgraph.encoders.static import StaticBiEncoder
from statgraph.errors import ModelError, UsageError

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "start", ["backbone folder '/no/such/folder' ", "unknown backbone 'embedded:x'", "backbone 'nobody-at-all/none' "]
)
def test_a_backbone_that_cannot_be_had(start):
    with pytest.raises(ModelError, match=f"^{start}") as error:
        build_biencoder(EncoderConfig(backbone=start.split("'")[1], train="full"), [], CPU)
    assert "\n" not in str(error.value)


@pytest.fixture
def two_folders(save_tiny_as, tmp_path):
    """Return two folders of the tiny model, the second with half the weights."""
    folders = [save_tiny_as(tmp_path / name) for name in ("one", "two")]
    weights = folders[1] / "model.safetensors"
    save_file({name: 0.5 * tensor for name, tensor in load_file(weights).items()}, weights, metadata={"format": "pt"})
    return [str(folder) for folder in folders]


@pytest.fixture
def static_folder(save_modules, unigram, tmp_path) -> str:
    vectors = np.ones((unigram.get_vocab_size(), 8), dtype=np.float32)
    return str(save_modules(tmp_path / "static", unigram, vectors=vectors))


def table(model) -> torch.Tensor:
    return model.get_input_embeddings().weight


@pytest.mark.parametrize("shared", [False, True])
def test_the_adapted_backbone_is_the_articles_and_where_one_is_shared_both_sides(two_folders, shared):
    one, two = two_folders
    config = EncoderConfig(backbone=one, shared=shared, train="full", chunk_tokens=64)
    pair = build_biencoder(config, [], CPU, adapted=two)
    plain = build_biencoder(config, [], CPU)
    assert torch.equal(0.5 * table(plain.query_model), table(pair.article_model))
    assert torch.equal((0.5 if shared else 1) * table(plain.query_model), table(pair.query_model))


def test_a_static_backbone_is_distilled_from_the_adapted_one(two_folders, tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("statgraph.encoders.embedded.unpack_embedded_e5", lambda: two_folders[0])
    config = EncoderConfig(backbone="embedded:static", train="full")
    plain, adapted = (build_biencoder(config, ["the rent"], CPU, adapted) for adapted in (None, two_folders[1]))

    assert isinstance(adapted, StaticBiEncoder)
    assert adapted.encoder.vectors.shape == plain.encoder.vectors.shape
    assert not torch.allclose(adapted.encoder.vectors, plain.encoder.vectors)


def test_a_static_backbone(static_folder):
    pair = build_biencoder(EncoderConfig(backbone=static_folder, train="full"), [], CPU)
    assert isinstance(pair, StaticBiEncoder)
    assert pair.width == 8
    with pytest.raises(UsageError, match=r"^encoder\.train: .*static.*'head'"):
        build_biencoder(EncoderConfig(backbone=static_folder, train="head"), [], CPU)


TEXTS = ["The tenant pays rent", "work", "the landlord pays the child"]


@pytest.fixture
def save(save_modules, tiny_folder, tmp_path):
    return lambda pooling, **prompts: save_modules(tmp_path / "st", tiny_folder, pooling=pooling, prompts=prompts)


def vectors_of(folder, side, **settings):
    """Return the unit vectors of an untrained pair, whose projection is the identity; `full` keeps them in float32."""
    config = EncoderConfig(str(folder), "full", article_layers=0, article_heads=1, chunk_tokens=32, **settings)
    encoders = build_biencoder(config, TEXTS, torch.device("cpu")).eval()
    with torch.inference_mode():
        inputs = encoders.question_inputs(TEXTS) if side == "query" else encoders.article_inputs(TEXTS)
        vectors = (encoders.questions if side == "query" else encoders.articles)(inputs).numpy()
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
@pytest.mark.parametrize(("side", "named"), [("query", "query"), ("passage", "document"), ("passage", "passage")])
def test_vectors_are_those_of_sentence_transformers(save, pooling, side, named):
    folder = save(pooling, **{"query": "query: ", named: "the " if named != "query" else "query: "})
    theirs = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, prompt_name=named, normalize_embeddings=True)
    np.testing.assert_allclose(vectors_of(folder, side), theirs, rtol=0, atol=1e-5)


def test_what_a_folder_does_not_say_is_logged_in_one_line(save, tiny_folder, caplog):
    caplog.set_level(logging.WARNING)
    vectors_of(save("cls", query="query: "), "query")
    assert not caplog.records
    vectors_of(tiny_folder, "query")
    (record,) = caplog.records
    assert "cls pooling and no prompts" in record.getMessage()
    assert "encoder.query_prompt" in record.getMessage()
    caplog.clear()
    vectors_of(tiny_folder, "query", pooling="mean", query_prompt="", passage_prompt="")
    assert not caplog.records
