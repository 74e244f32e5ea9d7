"""A saved static query encoder in NumPy: it answers before torch would have been imported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from statgraph.inference.encoder_outline import MODULE_WEIGHTS, EncoderOutline

_TOKEN_VECTORS = "embedding.weight"
_LEAST_LENGTH = 1e-12  # of a vector that is brought to length 1, as torch's normalize has it


class StaticQueryEncoder:
    """The mean of a question's token vectors, then the linear map, then unit length.

    Raises:
        OSError, ValueError, SafetensorError: if a file is missing or damaged (tokenizers raises a plain Exception).
    """

    def __init__(self, outline: EncoderOutline):
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(outline.first / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._prompt = outline.prompt
        self._unit_length = outline.unit_length
        self._vectors = _arrays(outline.first / MODULE_WEIGHTS)[_TOKEN_VECTORS]  # (vocabulary, width)
        self._dense = None if outline.dense is None else _arrays(outline.dense / MODULE_WEIGHTS)

    @classmethod
    def knows(cls, outline: EncoderOutline) -> bool:
        """Return whether an outline is that of a static encoder with one float32 vector a token."""
        if outline.kind != "StaticEmbedding":
            return False
        from safetensors import safe_open

        with safe_open(outline.first / MODULE_WEIGHTS, framework="numpy") as file:
            return list(file.keys()) == [_TOKEN_VECTORS] and file.get_slice(_TOKEN_VECTORS).get_dtype() == "F32"

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


def _arrays(path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(path)
