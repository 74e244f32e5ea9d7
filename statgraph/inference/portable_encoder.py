"""A query encoder as portable ONNX, for `statgraph export`: `model.onnx` and `tokenizer.json`, written and read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.errors import ModelError
from statgraph.inference.encoder_outline import (
    MODULE_CONFIG,
    MODULE_WEIGHTS,
    EncoderOutline,
    encoder_outline,
    json_object,
)
from statgraph.inference.portable_bert import add_bert, difficulty, most_positions
from statgraph.inference.portable_graph import TOKEN_IDS, TOKEN_MASK, PortableGraph
from statgraph.inference.static_query import StaticQueryEncoder

MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
WEIGHTS_FILE = "model.onnx.data"  # where the weights are more than one file of ONNX's can hold
_MOST_IN_ONE_FILE = 2**31 - 2**24  # bytes of weights; the operators need some room too
_LEAST_APART = 256  # bytes; shapes and single numbers stay beside their operators
_REMEDY = "export it as sentence-transformers, and convert that folder with a tool of its own, such as optimum"


def write_portable_encoder(encoder: Path, folder: Path) -> str:
    """Write a query encoder's `model.onnx` and `tokenizer.json`; return the prompt that stands before each question.

    The tokenizer pads and truncates as the model needs it: its ids and mask are what the model takes.

    Args:
        encoder: a sentence-transformers folder with a StaticEmbedding, or a BERT or RoBERTa (CamemBERT, XLM-R) that is
            pooled by mean or cls; each may have a linear map and Normalize after it.
        folder: an empty folder.

    Raises:
        ModelError: if it is another kind of encoder.
    """
    outline = encoder_outline(encoder)
    if outline is None:
        raise ModelError(f"{encoder}: holds modules or settings that cannot be written as ONNX here; {_REMEDY}")
    graph = PortableGraph()
    add = _add_static if outline.kind == "StaticEmbedding" else _add_transformer
    vectors, width, tokenizer = add(graph, outline, encoder)
    if outline.dense is not None:
        dense = _arrays(outline.dense)
        vectors, width = graph.linear(vectors, dense["linear.weight"], dense["linear.bias"]), len(dense["linear.bias"])
    if outline.unit_length:
        vectors = graph.unit_length(vectors)
    _save(graph.model(vectors, width), folder, apart=graph.weight_bytes > _MOST_IN_ONE_FILE)
    tokenizer.save(str(folder / TOKENIZER_FILE))
    return outline.prompt


class PortableQueryEncoder:
    """The encoder in a folder of `write_portable_encoder`, run by ONNX Runtime on the CPU."""

    def __init__(self, folder: Path, prompt: str):
        import onnxruntime
        from tokenizers import Tokenizer

        self._session = onnxruntime.InferenceSession(str(folder / MODEL_FILE), providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        self._prompt = prompt

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        encodings = self._tokenizer.encode_batch([self._prompt + question for question in questions])
        tokens = {
            TOKEN_IDS: np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            TOKEN_MASK: np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64),
        }
        return self._session.run(None, tokens)[0]


def _add_static(graph: PortableGraph, outline: EncoderOutline, encoder: Path):
    """Return (vectors, width, tokenizer) of a static encoder: the mean of the tokens' vectors."""
    from tokenizers import Tokenizer

    if not StaticQueryEncoder.knows(outline):
        raise ModelError(f"{encoder}: its token vectors are not one float32 vector each; {_REMEDY}")
    table = _arrays(outline.first)["embedding.weight"]
    about = json.loads((outline.first / TOKENIZER_FILE).read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_str(json.dumps(about | {"post_processor": None}))  # a static encoder has no <s> and </s>
    tokenizer.enable_padding(pad_id=0, pad_token=tokenizer.id_to_token(0))
    return graph.mean_of_tokens(graph.add("Gather", graph.weight(table), TOKEN_IDS)), table.shape[1], tokenizer


def _add_transformer(graph: PortableGraph, outline: EncoderOutline, encoder: Path):
    """Return (vectors, width, tokenizer) of a pooled BERT or RoBERTa."""
    from tokenizers import Tokenizer

    config = json_object(outline.first / MODULE_CONFIG)
    strange = difficulty(config)
    if strange:
        raise ModelError(f"{encoder}: its transformer has {strange}, which cannot be written as ONNX here; {_REMEDY}")
    if not (outline.first / TOKENIZER_FILE).is_file():
        raise ModelError(f"{encoder}: its tokenizer has no {TOKENIZER_FILE}, which ONNX users read; {_REMEDY}")
    about = json_object(outline.first / "tokenizer_config.json")
    tokenizer = Tokenizer.from_file(str(outline.first / TOKENIZER_FILE))
    tokenizer.enable_truncation(int(min(about.get("model_max_length", np.inf), most_positions(config))))
    pad_id = config["pad_token_id"] or 0
    tokenizer.enable_padding(pad_id=pad_id, pad_token=tokenizer.id_to_token(pad_id))
    hidden = add_bert(graph, _arrays(outline.first), config)
    if outline.pooling == "cls":
        return graph.add("Gather", hidden, graph.weight(np.array(0)), axis=1), config["hidden_size"], tokenizer
    return graph.mean_of_tokens(hidden), config["hidden_size"], tokenizer


def _save(model, folder: Path, *, apart: bool) -> None:
    """Write a model, its weights `apart` or in the same file, and have ONNX's own checker read it."""
    import onnx

    path = str(folder / MODEL_FILE)
    onnx.save_model(model, path, save_as_external_data=apart, location=WEIGHTS_FILE, size_threshold=_LEAST_APART)
    onnx.checker.check_model(path)


def _arrays(folder: Path) -> dict[str, np.ndarray]:
    """Return the weights of a module, float32."""
    from safetensors.numpy import load_file

    return {name: array.astype(np.float32) for name, array in load_file(folder / MODULE_WEIGHTS).items()}
