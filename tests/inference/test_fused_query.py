import os

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from statgraph.device import has_vnni
from statgraph.errors import ModelError
from statgraph.inference import bert_query, fused_query
from statgraph.inference.bert_query import BertQueryEncoder
from statgraph.inference.encoder_outline import encoder_outline
from statgraph.inference.fused_export import write_query_graph
from statgraph.inference.fused_query import QUERY_GRAPHS, FusedQueryEncoder, n_threads

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
QUERY_GRAPH = QUERY_GRAPHS["float32"]
QUESTIONS = ("The tenant pays rent", "work", "the landlord pays the child", "rent", "<mask> <s> é?", "pays " * 200)


@pytest.fixture(params=["mean", "cls"])
def folder(request, save_bert):
    folder = save_bert(request.param)
    write_query_graph(folder)
    return folder


def fused(folder, questions=QUESTIONS, **options):
    outline = encoder_outline(folder)
    assert FusedQueryEncoder.knows(outline, folder)
    return FusedQueryEncoder(outline, folder).encode(questions, **options)


def plain(folder, questions=QUESTIONS):
    return BertQueryEncoder(encoder_outline(folder), torch.float32).encode(questions)


def test_the_vectors_are_torch_s(folder):
    vectors = fused(folder)
    assert (vectors.dtype, vectors.shape) == (np.float32, (6, 32))
    assert vectors.std(axis=0).min() > 0.01  # the questions differ
    np.testing.assert_allclose(vectors, plain(folder), rtol=0, atol=2e-6)


@pytest.mark.parametrize("most_padding", [0.0, 1.0])
def test_padding_changes_nothing(folder, most_padding, monkeypatch):
    np.testing.assert_allclose(fused(folder, most_padding=most_padding), plain(folder), rtol=0, atol=2e-6)
    monkeypatch.setattr(bert_query, "TOKENS_PER_BATCH", 1)
    np.testing.assert_allclose(fused(folder), plain(folder), rtol=0, atol=2e-6)


def test_vectors_of_any_length_stand_without_map_and_norm(tiny_folder, tmp_path):
    modules = [Transformer(str(tiny_folder)), Pooling(32, pooling_mode="mean")]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "plain"), create_model_card=False)
    write_query_graph(tmp_path / "plain")
    vectors = fused(tmp_path / "plain")
    np.testing.assert_allclose(vectors, plain(tmp_path / "plain"), rtol=0, atol=1e-5)
    assert abs(np.linalg.norm(vectors, axis=1) - 1).min() > 0.1


def test_weights_of_the_same_shape_are_read_as_they_are(folder):
    path = folder / "model.safetensors"
    before = fused(folder)
    save_file({name: array[::-1].copy() for name, array in load_file(path).items()}, path, {"format": "pt"})
    assert abs(fused(folder) - before).max() > 0.01
    np.testing.assert_allclose(fused(folder), plain(folder), rtol=0, atol=1e-5)


def test_int8_is_near_and_a_question_has_one_vector(folder):
    write_query_graph(folder, "int8", ["the tenant works", "child"])
    near = FusedQueryEncoder(encoder_outline(folder), folder, "int8")
    together = near.encode(QUESTIONS)
    assert 1e-5 < abs(together - plain(folder)).max() < 0.02
    np.testing.assert_array_equal(together, np.concatenate([near.encode([question]) for question in QUESTIONS]))


@pytest.mark.parametrize(("vnni", "exact"), [(True, "0"), (False, "1")])
def test_without_vnni_products_of_bytes_are_added_up_exactly(folder, monkeypatch, vnni, exact):
    write_query_graph(folder, "int8", ["the tenant works", "child"])
    expected = FusedQueryEncoder(encoder_outline(folder), folder, "int8").encode(QUESTIONS)
    monkeypatch.setattr(fused_query, "has_vnni", lambda: vnni)
    encoder = FusedQueryEncoder(encoder_outline(folder), folder, "int8")
    options = encoder._session.get_session_options()
    assert options.get_session_config_entry("session.x64quantprecision") == exact
    if not vnni or has_vnni():
        np.testing.assert_array_equal(encoder.encode(QUESTIONS), expected)


def test_int8_refuses_weights_that_were_trained_on(folder):
    write_query_graph(folder, "int8")
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = "encoder.layer.1.output.dense.weight"
    save_file(weights | {name: 1.001 * weights[name]}, path, {"format": "pt"})
    fused(folder)  # in float32 they are read as they are
    with pytest.raises(ModelError) as refused:
        FusedQueryEncoder(encoder_outline(folder), folder, "int8")
    assert str(refused.value) == (
        f"{folder / QUERY_GRAPHS['int8']}: does not fit the weights beside it, written later; write it anew with "
        "`statgraph quicken --precision int8`"
    )


def test_weights_of_another_shape_are_refused(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["embeddings.word_embeddings.weight"] = np.repeat(weights["embeddings.word_embeddings.weight"], 2, axis=0)
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(ModelError) as refused:
        fused(folder)
    assert str(refused.value) == (
        f"{folder / QUERY_GRAPH}: does not fit the weights beside it, written later; delete it, and torch encodes the "
        "questions, or write it anew with `statgraph quicken`"
    )


@pytest.mark.parametrize("damage", [b"", b"no graph", None])
def test_a_damaged_graph_is_refused(folder, damage):
    path = folder / QUERY_GRAPH
    path.write_bytes(path.read_bytes()[:3000] if damage is None else damage)
    with pytest.raises(ModelError) as refused:
        fused(folder)
    assert str(refused.value).startswith(f"{path}: ")
    assert str(refused.value).endswith(
        "; delete it, and torch encodes the questions, or write it anew with `statgraph quicken`"
    )
    assert "\n" not in str(refused.value)


def test_it_is_not_known_without_its_parts(folder, monkeypatch):
    outline = encoder_outline(folder)
    with monkeypatch.context() as without:
        without.setattr(fused_query, "find_spec", lambda name: None)
        assert not FusedQueryEncoder.knows(outline, folder)
    assert FusedQueryEncoder.knows(outline, folder)
    (folder / QUERY_GRAPH).unlink()
    assert not FusedQueryEncoder.knows(outline, folder)


def test_threads_are_as_many_as_asked_for(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert n_threads() == 3
    for value in ("", "0", "many", "2,1"):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert n_threads() == len(os.sched_getaffinity(0))
