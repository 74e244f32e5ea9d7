import json
import logging
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, StaticEmbedding, Transformer
from transformers import BertConfig, BertModel

from statgraph.config import EncoderConfig
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.building import build_biencoder
from statgraph.encoders.loading import load_backbone, most_tokens
from statgraph.encoders.static_biencoder import StaticBiEncoder
from statgraph.encoders.transformer_biencoder import TransformerBiEncoder
from statgraph.errors import ModelError, UsageError

CPU = torch.device("cpu")


def test_a_transformer_folder(tiny_folder):
    pair = build_biencoder(EncoderConfig(backbone=str(tiny_folder), train="full", chunk_tokens=64), [], CPU)

    assert isinstance(pair, TransformerBiEncoder)
    assert pair.backbone.pooling == "cls"
    assert (pair.width, pair.device) == (32, CPU)


def test_a_static_folder(unigram, tmp_path):
    modules = [StaticEmbedding(unigram, embedding_dim=8)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "st"), create_model_card=False)
    pair = build_biencoder(EncoderConfig(backbone=str(tmp_path / "st"), train="full"), [], CPU)

    assert isinstance(pair, StaticBiEncoder)
    assert pair.width == 8


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("/no/such/folder", "backbone folder '/no/such/folder' does not exist"),
        ("embedded:x", "unknown backbone 'embedded:x'"),
        ("nobody-at-all/no-such-model", "backbone 'nobody-at-all/no-such-model' cannot be loaded ("),
    ],
)
def test_a_backbone_that_cannot_be_had(name, start):
    with pytest.raises(ModelError) as error:
        build_biencoder(EncoderConfig(backbone=name, train="full"), [], CPU)
    assert str(error.value).startswith(start)
    assert "\n" not in str(error.value)


@pytest.fixture
def two_folders(save_tiny_as, tmp_path):
    """Return two folders of the tiny model, the second with other weights, and one of token vectors."""
    folders = [save_tiny_as(tmp_path / name) for name in ("one", "two")]
    weights = folders[1] / "model.safetensors"
    save_file({name: 0.5 * tensor for name, tensor in load_file(weights).items()}, weights, metadata={"format": "pt"})
    return [str(folder) for folder in folders]


@pytest.fixture
def static_folder(unigram, tmp_path) -> str:
    modules = [StaticEmbedding(unigram, embedding_dim=8)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "st"), create_model_card=False)
    return str(tmp_path / "st")


def table(model) -> torch.Tensor:
    return model.get_input_embeddings().weight


@pytest.mark.parametrize("by", ["article_backbone", "adapted"])
def test_another_backbone_for_the_articles(two_folders, by):
    one, two = two_folders
    config = EncoderConfig(backbone=one, train="full", chunk_tokens=64)
    if by == "adapted":
        pair = build_biencoder(config, [], CPU, two)
    else:
        pair = build_biencoder(replace(config, article_backbone=two), [], CPU)

    assert torch.equal(0.5 * table(pair.query_model), table(pair.article_model))


def test_the_adapted_one_comes_from_the_article_backbone(two_folders):
    one, two = two_folders
    config = EncoderConfig(backbone=one, article_backbone=one, train="full", chunk_tokens=64)
    pair = build_biencoder(config, [], CPU, two)

    assert torch.equal(0.5 * table(pair.query_model), table(pair.article_model))


def test_a_shared_backbone_is_adapted_for_both_sides(two_folders):
    one, two = two_folders
    config = EncoderConfig(backbone=one, shared=True, train="full", chunk_tokens=64)
    pair = build_biencoder(config, [], CPU, two)

    assert pair.query_model is pair.article_model
    assert torch.equal(table(pair.query_model), 0.5 * table(build_biencoder(config, [], CPU).query_model))


def test_a_static_backbone_is_distilled_from_the_adapted_one(two_folders, tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("statgraph.encoders.backbones.unpack_embedded_e5", lambda folder: two_folders[0])
    config = EncoderConfig(backbone="embedded:static", train="full")
    plain, adapted = (build_biencoder(config, ["the rent"], CPU, adapted) for adapted in (None, two_folders[1]))

    assert isinstance(adapted, StaticBiEncoder)
    assert adapted.encoder.vectors.shape == plain.encoder.vectors.shape
    assert not torch.allclose(adapted.encoder.vectors, plain.encoder.vectors)


@pytest.mark.parametrize("static", [True, False])
def test_a_second_backbone_where_one_is_shared(two_folders, static_folder, static):
    backbone = static_folder if static else two_folders[0]
    config = EncoderConfig(backbone=backbone, article_backbone=two_folders[1], shared=not static, train="full")
    with pytest.raises(UsageError) as error:
        build_biencoder(config, [], CPU)
    why = f"static backbone '{static_folder}' is" if static else "one backbone is"
    assert str(error.value) == (
        f"encoder.article_backbone: '{two_folders[1]}' cannot be used, since {why} shared by questions and articles; "
        "leave it blank, or name a transformer in encoder.backbone and set encoder.shared=false"
    )


def test_a_static_backbone_for_the_articles(two_folders, static_folder):
    config = EncoderConfig(backbone=two_folders[0], article_backbone=static_folder, train="full", chunk_tokens=64)
    with pytest.raises(UsageError) as error:
        build_biencoder(config, [], CPU)
    assert str(error.value) == (
        f"encoder.article_backbone: '{static_folder}' is static, and a static backbone is shared by questions and "
        "articles; name a transformer"
    )


def test_backbones_of_other_widths(two_folders):
    one, two = two_folders
    config = BertConfig.from_pretrained(two)
    config.hidden_size = 16
    BertModel(config, add_pooling_layer=False).save_pretrained(two)
    with pytest.raises(UsageError) as error:
        build_biencoder(EncoderConfig(backbone=one, article_backbone=two, train="full", chunk_tokens=64), [], CPU)
    assert str(error.value) == (
        f"encoder.article_backbone: '{two}' is 16 wide, but backbone '{one}' is 32 wide; name two of equal width"
    )


TEXTS = ["The tenant pays rent", "work", "the landlord pays the child"]


@pytest.fixture
def save(tiny_folder, tmp_path):
    def saved(pooling="mean", prompts=None):
        modules = [Transformer(str(tiny_folder)), Pooling(32, pooling_mode=pooling)]
        SentenceTransformer(modules=modules, device="cpu", prompts=prompts or {}).save(
            str(tmp_path / "st"), create_model_card=False
        )
        return tmp_path / "st"

    return saved


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
    folder = save(pooling, {"query": "query: ", named: "the " if named != "query" else "query: "})
    theirs = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, prompt_name=named, normalize_embeddings=True)
    np.testing.assert_allclose(vectors_of(folder, side), theirs, rtol=0, atol=1e-5)


def test_settings_come_before_the_folder(save):
    folder = save("cls", {"query": "query: "})
    ours = vectors_of(folder, "query", pooling="max", query_prompt="the ")
    other = save("max", {"query": "the "})
    theirs = SentenceTransformer(str(other), device="cpu").encode(TEXTS, prompt_name="query", normalize_embeddings=True)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


def test_what_a_folder_does_not_say_is_told_in_one_line(save, tiny_folder, caplog):
    caplog.set_level(logging.WARNING)
    vectors_of(save("cls", {"query": "query: "}), "query")
    assert not caplog.records
    vectors_of(tiny_folder, "query")
    (record,) = caplog.records
    assert "cls pooling and no prompts" in record.getMessage()
    assert "encoder.query_prompt" in record.getMessage()
    caplog.clear()
    vectors_of(tiny_folder, "query", pooling="mean", query_prompt="", passage_prompt="")
    assert not caplog.records


def test_modules_that_are_not_supported_are_refused(save):
    folder = save()
    lines = json.loads((folder / "modules.json").read_text())
    lines.append({"idx": 2, "name": "2", "path": "2_LSTM", "type": "sentence_transformers.models.LSTM"})
    (folder / "modules.json").write_text(json.dumps(lines))
    with pytest.raises(ModelError, match="LSTM"):
        resolve_backbone(str(folder))


def test_the_longest_text_is_the_folder_s(save):
    folder = save()
    settings = json.loads((folder / "sentence_bert_config.json").read_text())
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings | {"max_seq_length": 40}))
    assert most_tokens(*load_backbone(resolve_backbone(str(folder)))) == 40
