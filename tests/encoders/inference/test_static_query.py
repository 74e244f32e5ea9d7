import json

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize

from statgraph.encoders.biencoder import dense_module
from statgraph.encoders.inference.static_query import read_static_encoder

PACKAGE = "sentence_transformers.base.modules"
SENTENCE = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
DENSE = {"bias": True, "activation_function": "torch.nn.modules.linear.Identity", **SENTENCE}
STATIC = ("StaticEmbedding", "", {})
LINEAR = ("Dense", "2_Dense", DENSE)
NORMALIZE = ("Normalize", "3_Normalize", SENTENCE)
VECTORS = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])


@pytest.fixture
def save(word_level, save_modules, tmp_path):
    """Return a function that saves "east" at (3, 0), "north" at (0, 4), all else without length, and more modules."""

    def save_encoder(*behind, vectors=VECTORS, **settings):
        tokenizer = word_level(["[UNK]", "east", "north"])
        tokenizer.enable_truncation(4)
        return save_modules(tmp_path, tokenizer, *behind, vectors=vectors, **settings)

    return save_encoder


def vectors_of(folder, *questions):
    vectors = read_static_encoder(folder).encode(questions)
    assert vectors.dtype == np.float32
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(list(questions))
    np.testing.assert_allclose(vectors, theirs, rtol=0, atol=1e-6)
    return vectors.tolist()


def test_a_question_is_the_mean_of_its_tokens_cut_where_the_tokenizer_says(save):
    folder = save()
    assert vectors_of(folder, "east north", "east", "of", "") == [[1.5, 2.0], [3.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert vectors_of(folder, "east east north north east east east") == [[1.5, 2.0]]
    assert vectors_of(save(Normalize()), "of") == [[0.0, 0.0]]


def test_the_map_and_unit_length_come_behind(save):
    turned = dense_module(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([0.0, 0.5]))
    assert vectors_of(save(turned, Normalize()), "east north", "of") == [
        [pytest.approx(2 / np.sqrt(8), abs=1e-6), pytest.approx(2 / np.sqrt(8), abs=1e-6)],
        [0.0, 1.0],
    ]


def test_the_default_prompt_stands_in_front(save):
    folder = save(prompts={"query": "north "}, default_prompt_name="query")
    assert vectors_of(folder, "east") == [[1.5, 2.0]]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes the modules (kind, path, config) of an encoder, one token vector and settings."""

    def write_modules(*modules, settings=None, package=PACKAGE):
        lines = [{"idx": 0, "name": "0", "path": path, "type": f"{package}.{kind}"} for kind, path, _ in modules]
        (tmp_path / "modules.json").write_text(json.dumps(lines))
        save_file({"embedding.weight": np.ones((1, 2), dtype=np.float32)}, tmp_path / "model.safetensors")
        for _, path, config in modules:
            if path:
                (tmp_path / path).mkdir()
                (tmp_path / path / "config.json").write_text(json.dumps(config))
        if settings is not None:
            (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(settings))
        return tmp_path

    return write_modules


@pytest.mark.parametrize(
    "modules",
    [
        (),
        (("Transformer", "", {}), ("Pooling", "1_Pooling", {"pooling_mode": "mean"})),
        (STATIC, NORMALIZE, LINEAR),
        (STATIC, ("LSTM", "1_LSTM", {})),
        (STATIC, ("Dense", "1_Dense", DENSE | {"activation_function": "torch.nn.modules.activation.Tanh"})),
        (STATIC, ("Dense", "1_Dense", DENSE | {"bias": False})),
        (STATIC, ("Dense", "1_Dense", DENSE | {"use_residual": True})),
        (STATIC, ("Normalize", "1_Normalize", {"module_input_name": "token_embeddings"})),
    ],
    ids=str,
)
def test_other_modules_are_not_known(write, modules):
    assert read_static_encoder(write(*modules)) is None


@pytest.mark.parametrize(
    "about",
    [
        {"settings": {"truncate_dim": 64}},
        {"settings": {"default_prompt_name": "q", "prompts": {}}},
        {"package": "mine"},
    ],
)
def test_other_settings_or_another_package_s_module_are_not_known(write, about):
    assert read_static_encoder(write(STATIC, **about)) is None
