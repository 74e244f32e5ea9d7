import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from statgraph.errors import ModelError
from statgraph.inference import portable_encoder
from statgraph.inference.portable_encoder import PortableQueryEncoder, write_portable_encoder
from statgraph.inference.query_encoder import load_query_encoder

WORDS = ("[UNK]", "<pad>", "<s>", "</s>", "who", "pays", "the", "rent", "tenant", "query", ":")
QUESTIONS = ("who pays", "the tenant pays the rent", "rent", "", "who who tenant " * 9)
TYPE = "sentence_transformers.models"
POSITIONS, WIDTH = 16, 8


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def modules(folder: Path, *names: str) -> None:
    lines = [{"idx": n, "name": str(n), "path": "" if n == 0 else f"{n}_{name}", "type": f"{TYPE}.{name}"}
             for n, name in enumerate(names)]  # fmt: skip
    write(folder / "modules.json", lines)


def tokenizer() -> Tokenizer:
    words = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)])
    return words


@pytest.fixture
def static_folder(tmp_path) -> Path:
    """Return a static encoder by hand: "pays" is east, "rent" is north and twice as long; the tokenizer would add ends
    if it were let."""
    folder = tmp_path / "static"
    modules(folder, "StaticEmbedding")
    vectors = np.zeros((len(WORDS), 2), dtype=np.float32)
    vectors[WORDS.index("pays")], vectors[WORDS.index("rent")] = (1, 0), (0, 2)
    vectors[2:4] = 99
    save_file({"embedding.weight": vectors}, folder / "model.safetensors")
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def bert_folder(tmp_path):
    """Return a function that writes an encoder of random weights: two layers and a linear map, to unit length."""

    def build(pooling: str = "mean", model_type: str = "bert", **config: object) -> Path:
        rng = np.random.default_rng(0)
        folder = tmp_path / f"{model_type}-{pooling}"
        modules(folder, "Transformer", "Pooling", "Dense", "Normalize")
        write(
            folder / "config_sentence_transformers.json",
            {"prompts": {"query": "query: "}, "default_prompt_name": "query"},
        )
        about = {"model_type": model_type, "hidden_size": WIDTH, "num_attention_heads": 2, "num_hidden_layers": 2,
                 "intermediate_size": 12, "layer_norm_eps": 1e-6, "max_position_embeddings": POSITIONS,
                 "pad_token_id": 1, "hidden_act": "gelu", "vocab_size": len(WORDS), "type_vocab_size": 2}  # fmt: skip
        write(folder / "config.json", about | config)
        task = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}
        write(folder / "sentence_bert_config.json", {"transformer_task": "feature-extraction", "modality_config": task,
                                                     "module_output_name": "token_embeddings"})  # fmt: skip
        write(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512})
        tokenizer().save(str(folder / "tokenizer.json"))
        write(folder / "1_Pooling" / "config.json", {"pooling_mode": pooling, "embedding_dimension": WIDTH})
        dense = {"in_features": WIDTH, "out_features": 6, "bias": True, "module_input_name": "sentence_embedding",
                 "module_output_name": "sentence_embedding",
                 "activation_function": "torch.nn.modules.linear.Identity"}  # fmt: skip
        write(folder / "2_Dense" / "config.json", dense)
        write(folder / "3_Normalize" / "config.json", {})
        save_file(drawn(rng, {"linear": (6, WIDTH)}), folder / "2_Dense" / "model.safetensors")
        parts = {f"embeddings.{name}_embeddings": rows for name, rows in
                 (("word", len(WORDS)), ("position", POSITIONS), ("token_type", 2))}  # fmt: skip
        weights = {f"{name}.weight": drawn(rng, {"x": (rows, WIDTH)})["x.weight"] for name, rows in parts.items()}
        weights |= norm(rng, "embeddings")
        for layer in ("encoder.layer.0", "encoder.layer.1"):
            square = (f"{layer}.attention.self.{part}" for part in ("query", "key", "value"))
            shapes = dict.fromkeys((*square, f"{layer}.attention.output.dense"), (WIDTH, WIDTH))
            shapes |= {f"{layer}.intermediate.dense": (12, WIDTH), f"{layer}.output.dense": (WIDTH, 12)}
            weights |= drawn(rng, shapes)
            weights |= norm(rng, f"{layer}.attention.output") | norm(rng, f"{layer}.output")
        save_file(weights, folder / "model.safetensors")
        return folder

    return build


def drawn(rng, shapes: dict) -> dict[str, np.ndarray]:
    return {
        f"{name}.{part}": 0.5 * rng.standard_normal(shape if part == "weight" else shape[:1]).astype(np.float32)
        for name, shape in shapes.items()
        for part in ("weight", "bias")
    }


def norm(rng, name: str) -> dict[str, np.ndarray]:
    weights = drawn(rng, {f"{name}.LayerNorm": (WIDTH,)})
    weights[f"{name}.LayerNorm.weight"] += 1
    return weights


def written(folder: Path, target: Path) -> PortableQueryEncoder:
    target.mkdir()
    return PortableQueryEncoder(target, write_portable_encoder(folder, target))


def test_a_static_encoder_is_the_mean_of_its_token_vectors(static_folder, tmp_path):
    encoder = written(static_folder, tmp_path / "onnx")
    vectors = encoder.encode(["pays pays rent who", "rent", ""])
    np.testing.assert_array_equal(vectors, np.array([[0.5, 0.5], [0, 2], [0, 0]], dtype=np.float32))
    assert vectors.dtype == np.float32


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_bert_gives_the_vectors_of_torch(bert_folder, tmp_path, pooling):
    folder = bert_folder(pooling)
    vectors = written(folder, tmp_path / "onnx").encode(QUESTIONS)
    expected = load_query_encoder(folder, device="cpu").encode(QUESTIONS)
    assert expected.std(axis=0).max() > 0.05  # the questions differ
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=2e-6)


def test_padding_changes_nothing(bert_folder, tmp_path):
    encoder = written(bert_folder(), tmp_path / "onnx")
    together = encoder.encode(QUESTIONS)
    for row, question in enumerate(QUESTIONS):
        np.testing.assert_allclose(encoder.encode([question])[0], together[row], rtol=0, atol=1e-6)


def test_roberta_counts_its_positions_from_behind_the_padding(bert_folder, tmp_path):
    """The same weights as a BERT's whose table begins where RoBERTa's does."""
    from safetensors.numpy import load_file

    bert, roberta = bert_folder(), bert_folder(model_type="xlm-roberta")
    weights = load_file(bert / "model.safetensors")
    table = weights["embeddings.position_embeddings.weight"]
    weights["embeddings.position_embeddings.weight"] = np.concatenate([table[2:], table[:2]])
    save_file(weights, bert / "model.safetensors")
    questions = QUESTIONS[:4]  # the last is longer than what RoBERTa has positions for
    shifted = written(bert, tmp_path / "a").encode(questions)
    np.testing.assert_allclose(written(roberta, tmp_path / "b").encode(questions), shifted, rtol=0, atol=1e-6)
    longest = Tokenizer.from_file(str(tmp_path / "b" / "tokenizer.json")).encode("who " * 50)
    assert len(longest.ids) == POSITIONS - 2


def test_large_weights_go_to_a_file_of_their_own(bert_folder, tmp_path, monkeypatch):
    folder = bert_folder()
    whole = written(folder, tmp_path / "one").encode(QUESTIONS)
    monkeypatch.setattr(portable_encoder, "_MOST_IN_ONE_FILE", 100)
    apart = written(folder, tmp_path / "two").encode(QUESTIONS)
    assert (tmp_path / "two" / "model.onnx.data").is_file()
    assert not (tmp_path / "one" / "model.onnx.data").exists()
    np.testing.assert_array_equal(apart, whole)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "distilbert"}, "its transformer has model_type 'distilbert'"),
        ({"hidden_act": "relu"}, "its transformer has hidden_act 'relu'"),
    ],
)
def test_what_cannot_be_written_is_refused(bert_folder, tmp_path, config, said):
    folder = bert_folder(**config)
    with pytest.raises(ModelError) as refused:
        write_portable_encoder(folder, tmp_path)
    assert str(refused.value).startswith(f"{folder}: {said}, which cannot be written as ONNX here; export it as")


def test_unknown_modules_are_refused(static_folder, tmp_path):
    modules(static_folder, "StaticEmbedding", "Dropout")
    with pytest.raises(ModelError, match="holds modules or settings that cannot be written as ONNX here"):
        write_portable_encoder(static_folder, tmp_path)
