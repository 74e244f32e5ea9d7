"""A saved static query encoder in NumPy: it answers before torch would have been imported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.encoders.backbones import MODULES

MODULE_WEIGHTS = "model.safetensors"
_SETTINGS = "config_sentence_transformers.json"
# Whatever else a folder sets may change its vectors, and then sentence-transformers computes them.
_KNOWN_SETTINGS = {"__version__", "default_prompt_name", "model_type", "prompts", "similarity_fn_name"}
_CHAINS = ([], ["Dense"], ["Normalize"], ["Dense", "Normalize"])  # behind the token vectors
_SENTENCE = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
_LINEAR = {"activation_function": "torch.nn.modules.linear.Identity", "bias": True, **_SENTENCE}
_TOKEN_VECTORS = "embedding.weight"
_LEAST_LENGTH = 1e-12  # of a vector that is brought to length 1, as torch's normalize has it


class StaticQueryEncoder:
    """The mean of a question's token vectors, then a linear map where there is one, then unit length if asked.

    Args:
        tokenizer: a `tokenizers.Tokenizer` that truncates and never pads.
        vectors: (vocabulary, width) float32.
        dense: `linear.weight` (width out, width) and `linear.bias` (width out,), or None.
        unit_length: whether the vectors are brought to length 1.
        prompt: what is put before every question.
    """

    def __init__(self, tokenizer, vectors: np.ndarray, dense: dict | None, *, unit_length: bool, prompt: str):
        self._tokenizer = tokenizer
        self._vectors = vectors
        self._dense = dense
        self._unit_length = unit_length
        self._prompt = prompt

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


def read_static_encoder(folder: Path) -> StaticQueryEncoder | None:
    """Return the query encoder of a folder as `StaticBiEncoder.save_question_encoder` writes it, read without
    sentence-transformers, whose import takes seconds; None where it is no static encoder with one float32 vector a
    token, or sets anything that is not known here.

    Raises:
        OSError, ValueError, SafetensorError: if a file is missing or damaged (tokenizers raises a plain Exception).
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    prompt = _prompt(folder)
    modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
    if prompt is None or not isinstance(modules, list) or not all(map(_is_plain, modules)):
        return None
    kinds = [module["type"].rpartition(".")[2] for module in modules]
    if kinds[:1] != ["StaticEmbedding"] or kinds[1:] not in _CHAINS:
        return None
    folders = {kind: folder / module["path"] for kind, module in zip(kinds, modules, strict=True)}
    if not all(map(_is_known, folders.keys(), folders.values())):
        return None
    arrays = load_file(folders["StaticEmbedding"] / MODULE_WEIGHTS)
    if list(arrays) != [_TOKEN_VECTORS] or arrays[_TOKEN_VECTORS].dtype != np.float32:
        return None
    tokenizer = Tokenizer.from_file(str(folders["StaticEmbedding"] / "tokenizer.json"))
    tokenizer.no_padding()
    dense = load_file(folders["Dense"] / MODULE_WEIGHTS) if "Dense" in folders else None
    return StaticQueryEncoder(
        tokenizer, arrays[_TOKEN_VECTORS], dense, unit_length="Normalize" in folders, prompt=prompt
    )


def _prompt(folder: Path) -> str | None:
    """Return what precedes a question, blank for nothing; None where the settings are not known."""
    settings = _json_object(folder / _SETTINGS)
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


def _is_known(kind: str, folder: Path) -> bool:
    """Return whether a module computes what it does here."""
    if kind == "StaticEmbedding":
        return True
    config = _json_object(folder / "config.json")
    if kind == "Dense":
        known = config.keys() <= {"in_features", "out_features", *_LINEAR}
        return known and all(config.get(key) == value for key, value in _LINEAR.items())
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
