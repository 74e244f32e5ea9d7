import gc
import json
import shutil
import subprocess
import sys
import weakref
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sentence_transformers.sentence_transformer.modules import Normalize
from transformers import AutoTokenizer

from statgraph.encoders.inference import query_encoder
from statgraph.encoders.inference.frozen_questions import questions_kept
from statgraph.encoders.inference.query_encoder import HeadEncoder, read_query_encoder, read_query_encoders
from statgraph.encoders.inference.query_graph import write_query_graph
from statgraph.errors import RunError
from statgraph.retrieval.signals.signal import QuestionBatch

QUESTIONS = ["the tenant pays rent", "work"]


@pytest.fixture
def bert(save_modules, tiny_folder, tmp_path):
    return save_modules(tmp_path / "bert", tiny_folder, Normalize(), pooling="mean")


@pytest.fixture
def other(save_modules, tiny_folder, tmp_path):
    """Return an encoder that pools as ours do not."""
    return save_modules(tmp_path / "other", tiny_folder, pooling="max")


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_each_folder_has_its_reader(bert, other, quick_backbone, monkeypatch, device):
    pytest.importorskip("onnxruntime")
    write_query_graph(bert)
    monkeypatch.setattr(query_encoder, "surely_cpu", lambda name: True)
    kinds = [type(read_query_encoder(folder, device=device)).__name__ for folder in (bert, quick_backbone, other)]
    assert kinds == ["OnnxQueryEncoder", "StaticQueryEncoder", "SentenceTransformerEncoder"]


def test_one_that_loads_but_cannot_encode_is_damaged(bert):
    module = bert / json.loads((bert / "modules.json").read_text())[-1]["path"] / "config.json"
    module.write_text('{"module_output_name": {}}')
    with pytest.raises(RunError, match="not loadable"):
        read_query_encoder(bert, device="cpu")


def test_what_is_not_needed_is_not_imported(bert, quick_backbone):
    pytest.importorskip("onnxruntime")
    write_query_graph(bert)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from statgraph.encoders.inference.query_encoder import read_query_encoder\n"
        "for folder in sys.argv[1:]:\n"
        "    read_query_encoder(Path(folder), device='cpu').encode(['rent'])\n"
        "    print(*sorted({'onnx', 'torch', 'transformers', 'sentence_transformers', 'scipy'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", code, str(quick_backbone), str(bert)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("\n\n", "")


SHARED = ("The tenant pays rent", "work", "the landlord pays the child")


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
    alone = [read_query_encoder(folder).encode(SHARED) for folder in pair]
    assert np.abs(alone[0] - alone[1]).max() > 0.1
    first, second = encoders = read_query_encoders(pair)
    for encoder, expected in zip(encoders, alone, strict=True):
        np.testing.assert_allclose(encoder.encode(SHARED), expected, rtol=0, atol=1e-5)
    assert first.base is second.base

    passes = []
    pooled = first.base.encode
    monkeypatch.setattr(first.base, "encode", lambda texts: passes.append(texts) or pooled(texts))
    questions = QuestionBatch(SHARED)
    for encoder, expected in zip(encoders, alone, strict=True):
        np.testing.assert_allclose(questions.vectors(encoder), expected, rtol=0, atol=1e-5)
    assert passes == [list(SHARED)]


@pytest.mark.parametrize("name", ["model.safetensors", "config_sentence_transformers.json", "tokenizer.json"])
def test_encoders_that_read_otherwise_share_nothing(folders, name):
    path = folders[1] / name
    if name == "model.safetensors":
        save_file({key: value + 1 for key, value in load_file(path).items()}, path)
    else:
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    first, second = read_query_encoders(folders)
    assert first.base is not second.base


def test_equal_transformers_are_held_once_in_a_process_and_as_long_as_any_is_used(folders):
    (first,) = read_query_encoders(folders[:1], device="cpu")
    (second,) = read_query_encoders(folders[1:], device="cpu")
    assert first.base is second.base
    held = weakref.ref(first.base)
    del first, second
    gc.collect()
    assert held() is None


def test_a_graph_that_is_written_meanwhile_is_read(folders):
    pytest.importorskip("onnxruntime")
    before, _ = read_query_encoders(folders, device="cpu")
    write_query_graph(folders[0])
    after, beside = read_query_encoders(folders, device="cpu")
    assert beside.base is before.base is not after.base


def test_a_transformer_alone_is_a_map_too_and_a_static_encoder_is_none(folders, quick_backbone):
    alone, static = read_query_encoders([folders[0], quick_backbone])
    np.testing.assert_allclose(alone.encode(SHARED), read_query_encoder(folders[0]).encode(SHARED), rtol=0, atol=1e-5)
    assert not isinstance(static, HeadEncoder)


@pytest.mark.parametrize("texts", [SHARED, SHARED[1:2]])
def test_the_tokens_are_those_that_are_pooled(pair, texts):
    base = read_query_encoders(pair)[0].base
    tokenizer = AutoTokenizer.from_pretrained(pair[0])
    vectors, tokens = base.encode_tokens(texts)
    assert [len(each) for each in tokens] == [
        len(tokenizer(f"query: {text}").input_ids) for text in texts
    ]  # no padding
    np.testing.assert_allclose(vectors, base.encode(texts), rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.stack([each.mean(axis=0) for each in tokens]), vectors, rtol=0, atol=1e-5)


@pytest.mark.parametrize("modules", ['[{"type": 3}]', "[" * 100_000, "{", "[3]"])
def test_damaged_modules_are_left_to_the_reader(folders, modules):
    (folders[0] / "modules.json").write_text(modules)
    with pytest.raises(RunError, match="not loadable"):
        read_query_encoders(folders, device="cpu")


def test_in_a_training_tokens_are_those_of_a_search_and_passages_have_their_prefix(folders):
    (searched,) = read_query_encoders(folders[:1], device="cpu")
    expected = searched.base.encode_tokens(SHARED)[1]
    with questions_kept(), questions_kept():
        (encoder,) = read_query_encoders(folders[:1], device="cpu")
        for tokens, of_search in zip(encoder.base.encode_tokens(SHARED)[1], expected, strict=True):
            np.testing.assert_allclose(tokens, of_search, rtol=0, atol=0.1)  # in bfloat16
        tower = encoder.base._encoder._tower
        encoder.base._encoder._tower = replace(tower, backbone=replace(tower.backbone, passage_prefix="the "))
        lengths = [len(tokens) - 1 for tokens in expected]  # "query: " has two
        assert [len(tokens) for tokens in encoder.base.passage_tokens(SHARED)] == lengths


def test_in_a_training_shared_transformers_read_a_question_once(folders, monkeypatch):
    expected = [read_query_encoder(folder, device="cpu").encode(SHARED) for folder in folders]
    with questions_kept():
        monkeypatch.setattr(query_encoder, "read_query_encoder", lambda *given, **options: pytest.fail("loaded twice"))
        first, _ = read_query_encoders(folders, device="cpu")
        np.testing.assert_allclose(first.encode(SHARED), expected[0], rtol=0, atol=0.02)
        _, second = read_query_encoders(folders, device="cpu")
        monkeypatch.setattr(second.base._encoder._tower.model, "forward", lambda **inputs: pytest.fail("read again"))
        np.testing.assert_allclose(second.encode(SHARED[::-1]), expected[1][::-1], rtol=0, atol=0.02)
    with questions_kept():  # as another training on this machine would
        (other, _) = read_query_encoders(folders, device="cpu")
        monkeypatch.setattr(other.base._encoder._tower.model, "forward", lambda **inputs: pytest.fail("read again"))
        np.testing.assert_allclose(other.encode(SHARED), expected[0], rtol=0, atol=0.02)
