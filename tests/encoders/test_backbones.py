import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, StaticEmbedding, Transformer

from statgraph.encoders import backbones
from statgraph.encoders.backbones import Backbone, backbone_fingerprint, cache_folder, is_static, resolve_backbone
from statgraph.errors import ModelError


@pytest.fixture
def save_sentence_transformer(tiny_folder, tmp_path):
    """Return a function that writes a sentence-transformers folder over the tiny model."""

    def save(pooling: str | None, **about) -> Path:
        modules = [Transformer(str(tiny_folder))] + ([Pooling(32, pooling_mode=pooling)] if pooling else [])
        SentenceTransformer(modules=modules, device="cpu", **about).save(str(tmp_path / "st"), create_model_card=False)
        return tmp_path / "st"

    return save


def refusal(name) -> str:
    with pytest.raises(ModelError) as error:
        resolve_backbone(str(name))
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "kind"), [("embedded:static", "static"), ("embedded:multilingual-e5-small", "transformer")]
)
def test_embedded_names(e5_folder, name, kind):
    assert resolve_backbone(name) == Backbone(name, kind, str(e5_folder), "mean", "query: ", "passage: ")
    assert is_static(name) == (kind == "static")


def test_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("STATGRAPH_CACHE", "")
    assert cache_folder() == Path.home() / ".cache" / "statgraph"
    monkeypatch.delenv("STATGRAPH_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "statgraph"


def test_the_embedded_model_is_unpacked_under_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path))
    monkeypatch.setattr(backbones, "unpack_embedded_e5", lambda folder: folder)

    assert resolve_backbone("embedded:static").location == str(tmp_path / "models" / "multilingual-e5-small")


@pytest.mark.parametrize(
    ("name", "pooling", "prefixes"),
    [
        ("intfloat/multilingual-e5-base", "mean", ("query: ", "passage: ")),
        ("intfloat/e5-small-v2", "mean", ("query: ", "passage: ")),
        ("dangvantuan/E5_fr", "mean", ("query: ", "passage: ")),
        ("camembert-base", "cls", ("", "")),
        ("some5/bert-base5", "cls", ("", "")),
        ("e5lab/legal-bert", "cls", ("", "")),
        ("sentence-transformers/LaBSE", "mean", ("", "")),
    ],
)
def test_hub_names(name, pooling, prefixes):
    assert resolve_backbone(name) == Backbone(name, "transformer", name, pooling, *prefixes)
    assert not is_static(name)


def test_an_unknown_embedded_name():
    assert "'embedded:e5'; choose from embedded:static, embedded:multilingual-e5-small" in refusal("embedded:e5")


@pytest.mark.parametrize("name", ["/nowhere/model", "./model", "~/model", "runs/x/query_encoder"])
def test_a_folder_that_does_not_exist(name):
    assert refusal(name) == (
        f"backbone folder '{name}' does not exist; name a sentence-transformers folder or a hub name"
    )


def test_a_folder_of_something_else(tmp_path):
    assert refusal(tmp_path) == (
        f"{tmp_path}: holds no config.json; name a sentence-transformers or transformers folder"
    )


@pytest.mark.parametrize(("called", "pooling", "prefix"), [("camembert", "cls", ""), ("my-e5", "mean", "query: ")])
def test_a_folder_of_transformers(save_tiny_as, tmp_path, called, pooling, prefix):
    folder = save_tiny_as(tmp_path / "e5-models" / called)
    found = resolve_backbone(str(folder))

    assert (found.kind, found.location, found.pooling, found.query_prefix) == (
        "transformer", str(folder), pooling, prefix,
    )  # fmt: skip


@pytest.mark.parametrize(("written", "pooling"), [("cls", "cls"), ("mean", "mean"), (None, "mean")])
def test_a_sentence_transformers_folder(save_sentence_transformer, written, pooling):
    folder = save_sentence_transformer(written, prompts={"query": "q: ", "document": "d: "})
    found = resolve_backbone(str(folder))

    assert (found.kind, found.pooling, found.query_prefix, found.passage_prefix) == (
        "transformer",
        pooling,
        "q: ",
        "d: ",
    )
    assert (Path(found.location) / "config.json").is_file()
    assert not is_static(str(folder))


@pytest.mark.parametrize(
    ("about", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"word_embedding_dimension": 32}, "mean"),
    ],
)
def test_the_older_layout_of_pooling(save_sentence_transformer, about, pooling):
    folder = save_sentence_transformer("mean")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(about))

    assert resolve_backbone(str(folder)).pooling == pooling


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({"pooling_mode": "lasttoken"}, "lasttoken"),
        ({"pooling_mode": ["cls", "mean"]}, "cls and mean"),
        ({"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": True}, "max and mean"),
    ],
)
def test_another_pooling(save_sentence_transformer, about, named):
    folder = save_sentence_transformer("mean")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(about))

    assert refusal(folder) == (
        f"{folder / '1_Pooling' / 'config.json'}: pools by {named}; a backbone needs mean or cls or max"
    )


def test_modules_without_an_encoder(tmp_path):
    (tmp_path / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.BoW", "path": ""}]))

    assert refusal(tmp_path) == f"{tmp_path}: its modules are BoW; a backbone needs Transformer or StaticEmbedding"


def test_modules_that_are_no_json(tmp_path):
    (tmp_path / "modules.json").write_text("[")

    assert refusal(tmp_path) == (
        f"{tmp_path / 'modules.json'}: is not JSON (Expecting value: line 1 column 2 (char 1)); "
        "write the model's folder again"
    )


def test_a_static_folder(unigram, tmp_path):
    modules = [StaticEmbedding(unigram, embedding_dim=8)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "st"), create_model_card=False)
    found = resolve_backbone(str(tmp_path / "st"))

    assert (found.kind, found.pooling, found.query_prefix) == ("static", "mean", "")
    assert (Path(found.location) / "tokenizer.json").is_file()
    assert is_static(str(tmp_path / "st"))


def test_a_fingerprint_is_of_what_a_backbone_computes(tiny_folder, tmp_path):
    backbone = Backbone("mine", "transformer", str(tiny_folder), "mean")
    copied = shutil.copytree(tiny_folder, tmp_path / "copy")
    (copied / "README.md").write_text("about")
    own = backbone_fingerprint(backbone)
    assert backbone_fingerprint(replace(backbone, name="another", location=str(copied))) == own

    changed = {backbone_fingerprint(replace(backbone, pooling="cls"))}
    changed.add(backbone_fingerprint(replace(backbone, query_prefix="query: ")))
    for name in ("model.safetensors", "tokenizer.json"):
        data = bytearray((tiny_folder / name).read_bytes())
        data[-1] ^= 1
        (copied / name).write_bytes(data)
        changed.add(backbone_fingerprint(replace(backbone, location=str(copied))))
    assert len(changed | {own}) == 5


def test_a_hub_names_fingerprint():
    one, same, other = (Backbone("x", "transformer", name, "cls") for name in ("bert", "bert", "camembert"))

    assert backbone_fingerprint(one) == backbone_fingerprint(same) != backbone_fingerprint(other)
