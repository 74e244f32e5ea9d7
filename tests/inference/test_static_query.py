import json

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from statgraph.encoders.biencoder import dense_module
from statgraph.inference.encoder_outline import encoder_outline
from statgraph.inference.static_query import StaticQueryEncoder

VECTORS = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])


@pytest.fixture
def save(tmp_path):
    """Return a function that saves "east" at (3, 0), "north" at (0, 4), all else without length, and more modules."""

    def save_encoder(*behind, vectors=VECTORS, **settings):
        tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "east": 1, "north": 2}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.enable_truncation(4)
        modules = [StaticEmbedding(tokenizer, embedding_weights=vectors), *behind]
        SentenceTransformer(modules=modules, device="cpu", **settings).save(str(tmp_path), create_model_card=False)
        return tmp_path

    return save_encoder


def vectors_of(folder, *questions):
    outline = encoder_outline(folder)
    assert StaticQueryEncoder.knows(outline)
    vectors = StaticQueryEncoder(outline).encode(questions)
    assert vectors.dtype == np.float32
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(list(questions))
    np.testing.assert_allclose(vectors, theirs, rtol=0, atol=1e-6)
    return vectors.tolist()


def test_a_question_is_the_mean_of_its_tokens(save):
    assert vectors_of(save(), "east north", "east", "of", "") == [[1.5, 2.0], [3.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_the_map_and_unit_length_come_behind(save):
    turned = dense_module(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([0.0, 0.5]))
    assert vectors_of(save(turned, Normalize()), "east north", "of") == [
        [pytest.approx(2 / np.sqrt(8), abs=1e-6), pytest.approx(2 / np.sqrt(8), abs=1e-6)],
        [0.0, 1.0],
    ]


def test_unit_length_leaves_zero_alone(save):
    assert vectors_of(save(Normalize()), "of") == [[0.0, 0.0]]


def test_a_question_is_cut_where_the_tokenizer_says(save):
    assert vectors_of(save(), "east east north north east east east") == [[1.5, 2.0]]


def test_the_default_prompt_stands_in_front(save):
    folder = save(prompts={"query": "north "}, default_prompt_name="query")
    assert vectors_of(folder, "east") == [[1.5, 2.0]]


def test_other_numbers_are_not_known(save):
    folder = save(vectors=VECTORS.half())
    assert not StaticQueryEncoder.knows(encoder_outline(folder))


def test_a_transformer_is_not_known(save):
    outline = encoder_outline(save())
    assert not StaticQueryEncoder.knows(type(outline)(**{**outline.__dict__, "kind": "Transformer"}))


def test_the_tokenizer_s_padding_is_left_out(save):
    folder = save()
    state = json.loads((folder / "tokenizer.json").read_text())
    strategy = {"direction": "Right", "pad_to_multiple_of": None, "pad_id": 1, "pad_type_id": 0, "pad_token": "east"}
    (folder / "tokenizer.json").write_text(json.dumps(state | {"padding": {"strategy": {"Fixed": 4}, **strategy}}))
    assert vectors_of(folder, "north") == [[0.0, 4.0]]
