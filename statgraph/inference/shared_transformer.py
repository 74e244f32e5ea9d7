"""Several query encoders over one frozen transformer, which reads a question once for all of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.encoders.backbones import MODULES
from statgraph.errors import RunError, reason_of
from statgraph.inference.onnx_query import MODULE_WEIGHTS, weight_marks
from statgraph.inference.query_encoder import QueryEncoder, read_query_encoder

_CHAIN = ("Transformer", "Pooling", "Dense")
_NORMALIZE = "Normalize"
_UNUSED = "pooler."  # BERT's own, which no encoder uses and which is drawn at random where a model has none
_NOT_READ = ("README.md", MODULES)


class PooledEncoder:
    """What a query encoder's transformer and pooling give, before the map behind them.

    Args:
        encoder: one with `pooled`.
    """

    def __init__(self, encoder):
        self._encoder = encoder

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return pooled vectors (questions, width) float32."""
        return self._encoder.pooled(questions)


class HeadEncoder:
    """A query encoder that is a linear map over another one's pooled vectors.

    Args:
        base: gives the pooled vectors.
        weight: (width, width of the pooled vectors) float32.
        bias: (width,) float32.
        unit_length: whether the vectors are normalised.
    """

    def __init__(self, base: PooledEncoder, weight: np.ndarray, bias: np.ndarray, *, unit_length: bool):
        self.base = base
        self._weight = weight
        self._bias = bias
        self._unit_length = unit_length

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        return self.head(self.base.encode(questions))

    def head(self, pooled: np.ndarray) -> np.ndarray:
        """Return vectors (questions, width) float32 from pooled ones."""
        vectors = pooled @ self._weight.T + self._bias
        if self._unit_length:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors


def read_query_encoders(
    folders: Sequence[Path], *, device: str = "auto", precision: str = "float32"
) -> list[QueryEncoder]:
    """Return the query encoder of each folder; those over equal transformers share one, where it gives pooled vectors.

    Raises:
        RunError: if one is missing or damaged; the rest as in `read_query_encoder`.
    """
    keys = [_transformer_of(folder) for folder in folders]
    bases: dict[str, PooledEncoder] = {}
    encoders: list[QueryEncoder] = []
    for folder, key in zip(folders, keys, strict=True):
        if key in bases:
            encoders.append(_head(folder, bases[key]))
            continue
        encoder = read_query_encoder(folder, device=device, precision=precision)
        if key is not None and keys.count(key) > 1 and getattr(encoder, "gives_pooled", False):
            bases[key] = PooledEncoder(encoder)
            encoder = _head(folder, bases[key])
        encoders.append(encoder)
    return encoders


def _transformer_of(folder: Path) -> str | None:
    """Return what is equal for equal transformers, with their tokenizers, prompts and pooling; None for an encoder that
    is no transformer with a linear map behind it."""
    try:
        modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        names = tuple(module["type"].rpartition(".")[2] for module in modules)
        if names[:3] != _CHAIN or names[3:] not in ((), (_NORMALIZE,)):
            return None
        digest = hashlib.sha256(weight_marks(folder, without=_UNUSED)[MODULE_WEIGHTS].encode())
        behind = {module["path"] for module in modules[2:]}
        for path in sorted(folder.rglob("*.json")):
            name = path.relative_to(folder).as_posix()
            if name not in _NOT_READ and name.partition("/")[0] not in behind:
                digest.update(name.encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # Whoever reads the encoder says what is wrong with it.
        return None


def _head(folder: Path, base: PooledEncoder) -> HeadEncoder:
    from safetensors.numpy import load_file

    try:
        modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        weights = load_file(folder / modules[2]["path"] / MODULE_WEIGHTS)
        weight, bias = weights["linear.weight"], weights["linear.bias"]
    except Exception as error:  # safetensors has an exception of its own
        raise RunError(f"{folder}: not loadable ({reason_of(error)}); train the run again") from None
    return HeadEncoder(base, weight, bias, unit_length=len(modules) > 3)
