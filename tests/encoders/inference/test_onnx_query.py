import logging
import shutil

import numpy as np
import onnx
import pytest
from onnx import helper
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer

from statgraph import extras
from statgraph.encoders.inference import onnx_query
from statgraph.encoders.inference.onnx_query import QUERY_GRAPH, OnnxQueryEncoder, read_query_graph
from statgraph.encoders.inference.query_encoder import read_query_encoder
from statgraph.encoders.inference.query_graph import add_query_graph, write_query_graph
from statgraph.errors import ModelError

pytest.importorskip("onnxruntime")
QUESTIONS = ("The tenant pays rent", "work", "the landlord pays the child", "rent", "<mask> <s> é?", "pays " * 200)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return where encoders with their graph are kept, by pooling."""
    return tmp_path_factory.mktemp("written")


@pytest.fixture(params=["mean", "cls"])
def folder(request, written, save_bert, tmp_path):
    """Return a copy of an encoder with its graph; torch exports each once."""
    kept = written / request.param
    if not kept.exists():
        made = save_bert(request.param)
        write_query_graph(made)
        shutil.copytree(made, kept)
    return shutil.copytree(kept, tmp_path / "run" / "query_encoder")


def vectors_of(folder):
    return OnnxQueryEncoder(folder).encode(QUESTIONS)


def theirs(folder, questions=QUESTIONS):
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(list(questions))


def test_the_vectors_are_those_of_sentence_transformers(folder):
    vectors = vectors_of(folder)
    assert (vectors.dtype, vectors.shape) == (np.float32, (6, 32))
    assert vectors.std(axis=0).min() > 0.01  # the questions differ
    np.testing.assert_allclose(vectors, theirs(folder), rtol=0, atol=2e-6)


def test_padding_changes_nothing(folder, monkeypatch):
    expected = theirs(folder)
    monkeypatch.setattr(onnx_query, "BATCH", 1)
    np.testing.assert_allclose(vectors_of(folder), expected, rtol=0, atol=2e-6)


def earlier_version(path):
    model = onnx.load(path, load_external_data=False)
    helper.set_model_props(model, {"weights": "{}"})
    path.write_bytes(model.SerializeToString())


def newer_weights(path):
    weights = path.parent / "2_Dense" / "model.safetensors"
    save_file({name: 2 * weight for name, weight in load_file(weights).items()}, weights)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no graph"),
        lambda path: path.write_bytes(path.read_bytes()[:3000]),
        earlier_version,
        newer_weights,
    ],
)
def test_a_graph_that_is_damaged_or_older_than_its_weights_or_their_version_is_refused(folder, damage):
    path = folder / QUERY_GRAPH
    damage(path)
    with pytest.raises(ModelError, match="statgraph quicken --run") as refused:
        read_query_encoder(folder, device="cpu")
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


def test_a_graph_needs_its_file_and_onnxruntime(folder, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    with monkeypatch.context() as without:
        without.setattr(onnx_query, "find_spec", lambda name: None)
        assert read_query_graph(folder) is None
    assert isinstance(read_query_graph(folder), OnnxQueryEncoder)
    (folder / QUERY_GRAPH).unlink()
    assert read_query_graph(folder) is None
    first, second = [record.getMessage() for record in caplog.records if record.name == onnx_query.__name__]
    assert "onnxruntime is not installed" in first
    assert f"has no {QUERY_GRAPH}" in second


def test_training_goes_on_without_the_extra(folder, monkeypatch, caplog):
    (folder / QUERY_GRAPH).unlink()
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    caplog.set_level(logging.INFO)
    add_query_graph(folder)
    (line,) = [record.getMessage() for record in caplog.records if record.name == add_query_graph.__module__]
    assert line == (
        "onnx: not installed; run in statgraph's checkout: pip install '.[onnx]'; until `statgraph quicken` runs, "
        "sentence-transformers encodes the questions"
    )
