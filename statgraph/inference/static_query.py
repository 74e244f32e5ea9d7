"""A saved static query encoder in NumPy: it answers before torch would have been imported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from statgraph.encoders.backbones import MODULES

SETTINGS = "config_sentence_transformers.json"
MODULE_CONFIG = "config.json"
MODULE_WEIGHTS = "model.safetensors"
# Whatever else a folder sets may change its vectors, and then sentence-transformers computes them.
_KNOWN_SETTINGS = {"__version__", "default_prompt_name", "model_type", "prompts", "similarity_fn_name"}
_SENTENCE = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
_DENSE = {"in_features", "out_features", "bias", "activation_function", *_SENTENCE}
_LINEAR = {"activation_function": "torch.nn.modules.linear.Identity", "bias": True}
_TOKEN_VECTORS = "embedding.weight"
_LEAST_LENGTH = 1e-12  # of a vector that is brought to length 1, as torch's normalize has it


@dataclass(frozen=True)
class StaticOutline:
    """A static query encoder as `StaticBiEncoder.save_question_encoder` writes it.

    Attributes:
        first: the folder of the token vectors.
        dense: the folder of the linear map behind them, where there is one.
        unit_length: whether the vectors are brought to length 1.
        prompt: what is put before every question.
    """

    first: Path
    dense: Path | None
    unit_length: bool
    prompt: str


def static_outline(folder: Path) -> StaticOutline | None:
    """Return the outline of a query encoder's folder, read without sentence-transformers, whose import takes seconds;
    None where it is no static encoder with one float32 vector a token, or anything in it is not known here.

    Raises:
        OSError, ValueError, SafetensorError: if a file of it is missing or damaged.
    """
    prompt = _prompt(folder)
    modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
    if prompt is None or not isinstance(modules, list) or not all(map(_is_plain, modules)):
        return None
    kinds = [module["type"].rpartition(".")[2] for module in modules]
    if kinds[:1] != ["StaticEmbedding"] or kinds[1:] not in ([], ["Dense"], ["Normalize"], ["Dense", "Normalize"]):
        return None
    folders = {kind: folder / module["path"] for kind, module in zip(kinds, modules, strict=True)}
    first, dense, norm = (folders.get(kind) for kind in ("StaticEmbedding", "Dense", "Normalize"))
    if (dense and not _is_linear(dense)) or (norm and not _is_of_sentences(norm)) or not _has_token_vectors(first):
        return None
    return StaticOutline(first, dense, norm is not None, prompt)


class StaticQueryEncoder:
    """The mean of a question's token vectors, then the linear map, then unit length.

    Raises:
        OSError, ValueError, SafetensorError: if a file is missing or damaged (tokenizers raises a plain Exception).
    """

    def __init__(self, outline: StaticOutline):
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(outline.first / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._prompt = outline.prompt
        self._unit_length = outline.unit_length
        self._vectors = _arrays(outline.first / MODULE_WEIGHTS)[_TOKEN_VECTORS]  # (vocabulary, width)
        self._dense = None if outline.dense is None else _arrays(outline.dense / MODULE_WEIGHTS)

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        encodings = self._tokenizer.encode_batch(
            [self._prompt + question for question in questions], add_special_tokens=False
        )
        vectors = np.zeros((len(encodings), self._vectors.shape[1]), dtype=np.float32)  # zero without tokens
        for row, encoding in enumerate(encodings):
            if encoding.ids:
                vectors[row] = self._vectors[encoding.ids].mean(axis=0)
        if self._dense is not None:
            vectors = vectors @ self._dense["linear.weight"].T + self._dense["linear.bias"]  # (questions, width out)
        if self._unit_length:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _LEAST_LENGTH)
        return vectors


def _arrays(path: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(path)


def _prompt(folder: Path) -> str | None:
    settings = _json_object(folder / SETTINGS)
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts") or {}
    if not settings.keys() <= _KNOWN_SETTINGS or not isinstance(prompts, dict):
        return None
    return "" if name is None else prompts.get(name)


def _is_plain(module: object) -> bool:
    """Return whether a line of modules.json names a class of sentence-transformers' own and a folder inside."""
    if not isinstance(module, dict) or not str(module.get("type")).startswith("sentence_transformers."):
        return False
    path = module.get("path")
    return isinstance(path, str) and not Path(path).is_absolute() and ".." not in Path(path).parts


def _has_token_vectors(folder: Path) -> bool:
    from safetensors import safe_open

    with safe_open(folder / MODULE_WEIGHTS, framework="numpy") as file:
        return list(file.keys()) == [_TOKEN_VECTORS] and file.get_slice(_TOKEN_VECTORS).get_dtype() == "F32"


def _is_linear(folder: Path) -> bool:
    config = _json_object(folder / MODULE_CONFIG)
    wanted = _LINEAR | _SENTENCE
    return config.keys() <= _DENSE and all(config.get(key) == value for key, value in wanted.items())


def _is_of_sentences(folder: Path) -> bool:
    config = _json_object(folder / MODULE_CONFIG)
    return all(_SENTENCE.get(key) == value for key, value in config.items())


def _json_object(path: Path) -> dict:
    """Return the JSON object in a file, {} where there is no such file.

    Raises:
        ValueError: if it holds something else.
    """
    value = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} holds no JSON object")
    return value
