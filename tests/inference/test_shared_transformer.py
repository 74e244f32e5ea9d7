import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from statgraph.errors import RunError
from statgraph.inference import shared_transformer
from statgraph.inference.query_encoder import read_query_encoder
from statgraph.inference.query_graph import write_query_graph
from statgraph.inference.shared_transformer import HeadEncoder, read_query_encoders
from statgraph.signals.signal import Asked

QUESTIONS = ("The tenant pays rent", "work", "the landlord pays the child")


@pytest.fixture
def folders(save_bert, tmp_path):
    """Return the folders of two encoders that differ in the map behind the pooling alone."""
    first = save_bert("mean")
    second = shutil.copytree(first, tmp_path / "second")
    path = second / "2_Dense" / "model.safetensors"
    weights = load_file(path)
    rng = np.random.default_rng(0)
    save_file({name: value + rng.normal(size=value.shape).astype("f4") for name, value in weights.items()}, path)
    return [first, second]


@pytest.fixture(params=["onnx", "torch"])
def pair(request, folders):
    if request.param == "onnx":
        pytest.importorskip("onnxruntime")
        for folder in folders:
            write_query_graph(folder)
    return folders


def test_one_pass_gives_the_vectors_of_both(pair, monkeypatch):
    alone = [read_query_encoder(folder).encode(QUESTIONS) for folder in pair]
    assert np.abs(alone[0] - alone[1]).max() > 0.1
    first, second = encoders = read_query_encoders(pair)
    for encoder, expected in zip(encoders, alone, strict=True):
        np.testing.assert_allclose(encoder.encode(QUESTIONS), expected, rtol=0, atol=1e-5)
    assert first.base is second.base

    passes = []
    pooled = first.base.encode
    monkeypatch.setattr(first.base, "encode", lambda texts: passes.append(texts) or pooled(texts))
    asked = Asked(QUESTIONS)
    for encoder, expected in zip(encoders, alone, strict=True):
        np.testing.assert_allclose(asked.vectors(encoder), expected, rtol=0, atol=1e-5)
    assert passes == [QUESTIONS]


@pytest.mark.parametrize("name", ["model.safetensors", "config_sentence_transformers.json", "tokenizer.json"])
def test_encoders_that_read_otherwise_share_nothing(folders, name):
    path = folders[1] / name
    if name == "model.safetensors":
        save_file({key: value + 1 for key, value in load_file(path).items()}, path)
    else:
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    encoders = read_query_encoders(folders)
    assert not any(isinstance(encoder, HeadEncoder) for encoder in encoders)


def test_a_pooler_that_nothing_uses_may_differ(folders):
    path = folders[1] / "model.safetensors"
    weights = load_file(path) | {"pooler.dense.weight": np.zeros((32, 32), dtype="f4")}
    save_file(weights, path)
    other = weights | {"pooler.dense.weight": np.ones((32, 32), dtype="f4")}
    save_file(other, folders[0] / "model.safetensors")
    assert all(isinstance(encoder, HeadEncoder) for encoder in read_query_encoders(folders))


def test_alone_and_of_other_kinds_nothing_is_shared(folders, quick_backbone):
    assert not any(isinstance(e, HeadEncoder) for e in read_query_encoders([folders[0], quick_backbone]))


@pytest.mark.parametrize("modules", ['[{"type": 3}]', "[" * 100_000, "{", "[3]"])
def test_damaged_modules_are_left_to_the_reader(folders, modules):
    (folders[0] / "modules.json").write_text(modules)
    with pytest.raises(RunError, match="not loadable"):
        shared_transformer.read_query_encoders(folders, device="cpu")


def test_a_damaged_map_is_refused(folders):
    (folders[1] / "2_Dense" / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(RunError, match="second"):
        shared_transformer._head(folders[1], None)
    with pytest.raises(RunError, match="second"):
        read_query_encoders(folders)
