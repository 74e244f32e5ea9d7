"""A saved static query encoder in NumPy: it answers before torch would have been imported."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.encoders.backbones import MODULES

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODULE_WEIGHTS = "model.safetensors"
_SETTINGS = "config_sentence_transformers.json"
# Whatever else a folder sets may change its vectors, and then sentence-transformers computes them.
_KNOWN_SETTINGS = {"__version__", "default_prompt_name", "model_type", "prompts", "similarity_fn_name"}
_CHAINS: tuple[list[str], ...] = ([], ["Dense"], ["Normalize"], ["Dense", "Normalize"])  # behind the token vectors
_SENTENCE = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
_LINEAR = {"activation_function": "torch.nn.modules.linear.Identity", "bias": True, **_SENTENCE}
_TOKEN_VECTORS = "embedding.weight"
_LEAST_LENGTH = 1e-12  # of a vector that is brought to length 1, as torch's normalize has it


class StaticQueryEncoder:
    """The mean of a question's token vectors (vocabulary, width), after the prompt and the truncation of the tokenizer;
    then the linear map `dense` where there is one (`linear.weight` (width out, width), `linear.bias`); then
    unit length if set."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        vectors: np.ndarray,
        dense: Mapping[str, np.ndarray] | None,
        *,
        unit_length: bool,
        prompt: str,
    ):
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
    sentence-transformers, whose import takes seconds; None where it is not a static encoder with one float32 vector a
    token, or has any setting that is not known here.

    Raises:
        Exception: of the reader of a file that is missing or damaged.
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    settings = _read_json(folder / _SETTINGS)
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts") or {}
    prompt = "" if name is None else prompts.get(name)
    modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
    folders = {module["type"].rpartition(".")[2]: folder / module["path"] for module in modules}
    kinds = list(folders)
    if kinds[:1] != ["StaticEmbedding"] or kinds[1:] not in _CHAINS or prompt is None:
        return None
    if not settings.keys() <= _KNOWN_SETTINGS or not all(_is_known(kind, folders[kind]) for kind in kinds[1:]):
        return None
    if not all(module["type"].startswith("sentence_transformers.") for module in modules):
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


def _is_known(kind: str, folder: Path) -> bool:
    """Return whether a Dense or a Normalize computes what it does here."""
    config, known = _read_json(folder / "config.json"), _LINEAR if kind == "Dense" else _SENTENCE
    if kind == "Dense" and not known.keys() <= config.keys():
        return False
    return all(known.get(key) == value for key, value in config.items() if key not in ("in_features", "out_features"))


def _read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, {} where there is no such file."""
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return value
