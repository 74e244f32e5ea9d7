import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.encoders.backbone import Backbone
from statgraph.encoders.backbones import backbone_fingerprint, is_static, resolve_backbone
from statgraph.errors import ModelError


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


@pytest.mark.parametrize(("called", "pooling", "prefix"), [("camembert", "cls", ""), ("my-e5", "mean", "query: ")])
def test_a_folder_of_transformers(save_tiny_as, tmp_path, called, pooling, prefix):
    folder = save_tiny_as(tmp_path / "e5-models" / called)
    found = resolve_backbone(str(folder))

    assert (found.kind, found.location, found.pooling, found.query_prefix) == (
        "transformer", str(folder), pooling, prefix,
    )  # fmt: skip


@pytest.fixture
def save(save_modules, tiny_folder, tmp_path):
    """Return a function that writes a sentence-transformers folder over the tiny model."""
    return lambda pooling, **settings: save_modules(tmp_path / "st", tiny_folder, pooling=pooling, **settings)


@pytest.mark.parametrize(("written", "pooling"), [("cls", "cls"), ("mean", "mean"), (None, "mean")])
def test_a_sentence_transformers_folder(save, written, pooling):
    folder = save(written, prompts={"query": "q: ", "document": "d: "})
    found = resolve_backbone(str(folder))

    assert found == Backbone(str(folder), "transformer", found.location, pooling, "q: ", "d: ", found.chosen)
    assert (Path(found.location) / "config.json").is_file()
    assert not is_static(str(folder))


@pytest.mark.parametrize(
    ("about", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"word_embedding_dimension": 32}, "mean"),
        ({"pooling_mode": "lasttoken"}, None),
        ({"pooling_mode": ["cls", "mean"]}, None),
        ({"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": True}, None),
    ],
)
def test_the_older_layout_of_pooling_and_other_poolings(save, about, pooling):
    folder = save("mean")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(about))

    if pooling:
        assert resolve_backbone(str(folder)).pooling == pooling
    else:
        assert re.search(r"1_Pooling/config.json: pools by (lasttoken|cls and mean|max and mean);", refusal(folder))


@pytest.mark.parametrize("name", ["/nowhere/model", "./model", "~/model", "runs/x/query_encoder", "embedded:e5"])
def test_a_name_of_nothing(name):
    assert ("choose from embedded:static, embedded:" if ":" in name else "does not exist") in refusal(name)


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        (None, "holds no config.json; name "),
        ("[", "modules.json: is not JSON "),
        (["BoW"], "its modules are BoW; a backbone needs "),
        (["Transformer", "Pooling", "LSTM"], "its module LSTM is not supported; name "),
    ],
)
def test_a_folder_of_something_else(tmp_path, modules, said):
    if isinstance(modules, list):
        modules = json.dumps([{"type": f"sentence_transformers.models.{kind}", "path": ""} for kind in modules])
    if modules is not None:
        (tmp_path / "modules.json").write_text(modules)
    message = refusal(tmp_path)
    assert message.startswith(str(tmp_path))
    assert said in message


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
