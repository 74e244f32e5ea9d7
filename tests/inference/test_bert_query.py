import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from statgraph.inference import bert_query
from statgraph.inference.bert_query import BertQueryEncoder
from statgraph.inference.encoder_outline import encoder_outline

QUESTIONS = ("The tenant pays rent", "work", "the landlord pays the child", "rent", "<mask> <s> é?", "pays " * 200)


@pytest.fixture(params=["mean", "cls"])
def folder(request, save_bert):
    return save_bert(request.param)


def theirs(folder, questions=QUESTIONS):
    encoder = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return np.concatenate([encoder.encode([question]) for question in questions])


def ours(folder, questions=QUESTIONS, dtype=torch.float32):
    outline = encoder_outline(folder)
    assert BertQueryEncoder.knows(outline)
    return BertQueryEncoder(outline, dtype).encode(questions)


def changed(folder, name, **values):
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_the_vectors_are_those_of_sentence_transformers(folder):
    vectors = ours(folder)
    assert (vectors.dtype, vectors.shape) == (np.float32, (6, 32))
    np.testing.assert_allclose(vectors, theirs(folder), rtol=0, atol=2e-6)


def test_vectors_of_any_length_stand_without_map_and_norm(tiny_folder, tmp_path):
    modules = [Transformer(str(tiny_folder)), Pooling(32, pooling_mode="mean")]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "plain"), create_model_card=False)
    np.testing.assert_allclose(ours(tmp_path / "plain"), theirs(tmp_path / "plain"), rtol=0, atol=2e-6)
    assert abs(np.linalg.norm(ours(tmp_path / "plain"), axis=1) - 1).min() > 0.1


def test_the_company_of_a_question_changes_nothing(folder, monkeypatch):
    together = ours(folder)
    assert together.std(axis=0).min() > 0.01  # the questions differ
    for row, question in enumerate(QUESTIONS):
        np.testing.assert_allclose(ours(folder, [question])[0], together[row], rtol=0, atol=1e-6)
    monkeypatch.setattr(bert_query, "TOKENS_PER_BATCH", 1)
    np.testing.assert_allclose(ours(folder), together, rtol=0, atol=1e-6)


def test_batches_are_sorted_and_within_the_tokens_with_padding(monkeypatch):
    monkeypatch.setattr(bert_query, "TOKENS_PER_BATCH", 12)
    # Lengths 2, 3, 3 fill 9 places; with a fourth of 4 tokens they would fill 16.
    assert list(bert_query.batches([4, 3, 13, 2, 4, 3])) == [[3, 1, 5], [0, 4], [2]]
    assert list(bert_query.batches([])) == []


def test_batches_are_within_the_padding():
    # 9, 10 fill 20 places, 1 of them padding; with 12 it would be 36 places and 5 of them, more than a tenth.
    assert list(bert_query.batches([10, 12, 9, 13, 30], most_padding=0.1)) == [[2, 0], [1, 3], [4]]
    assert list(bert_query.batches([1, 2, 2], most_padding=0.0)) == [[0], [1, 2]]


def test_padding_by_hand():
    padding = bert_query._Padding([2, 1, 3])
    assert padding.rows.tolist() == [[0, 1, 0], [2, 0, 0], [3, 4, 5]]
    assert padding.places.tolist() == [0, 1, 3, 6, 7, 8]
    assert padding.mask[:, 0, 0].tolist() == [[True, True, False], [True, False, False], [True, True, True]]


def test_bfloat16_is_near(folder):
    near = ours(folder, dtype=torch.bfloat16)
    assert near.dtype == np.float32
    cosines = (near * ours(folder)).sum(axis=1)
    assert 0.99 < cosines.min() < 1 - 1e-6


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"is_decoder": True}),
        ("config.json", {"dtype": "bfloat16"}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("sentence_bert_config.json", {"max_seq_length": 8}),
        ("tokenizer_config.json", {"tokenizer_class": "BertTokenizer"}),
        ("tokenizer_config.json", {"truncation_side": "left"}),
    ],
)
def test_another_bert_is_not_known(folder, name, values):
    changed(folder, name, **values)
    assert not BertQueryEncoder.knows(encoder_outline(folder))


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_without_its_files_it_is_not_known(folder, name):
    (folder / name).unlink()
    assert not BertQueryEncoder.knows(encoder_outline(folder))


def test_a_static_encoder_is_not_known(folder):
    assert not BertQueryEncoder.knows(replace(encoder_outline(folder), kind="StaticEmbedding"))


def test_a_missing_weight_is_refused(folder):
    from safetensors.torch import save_file

    with safe_open(folder / "model.safetensors", framework="pt") as file:
        state = {name: file.get_tensor(name) for name in file.keys() if "layer.2.output.dense.bias" not in name}  # noqa: SIM118
    save_file(state, folder / "model.safetensors")
    with pytest.raises(KeyError, match=r"encoder.layer.2.output.dense.bias"):
        ours(folder)
