"""Reading query encoders: static ones in NumPy, transformers in ONNX Runtime, all others in sentence-transformers, and
several over one frozen transformer, which then encodes a question once for all of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from statgraph.artifacts import reading
from statgraph.device import pick_device, surely_cpu
from statgraph.encoders.backbones import MODULES
from statgraph.encoders.inference.frozen_questions import FrozenQuestions, frozen_questions
from statgraph.encoders.inference.onnx_query import QUERY_GRAPH, OnnxQueryEncoder, read_query_graph, weights_hash
from statgraph.encoders.inference.static_query import MODULE_WEIGHTS, read_static_encoder
from statgraph.errors import StatgraphError, damaged_run, reason_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_CHAIN = ("Transformer", "Pooling", "Dense")
_NORMALIZE = "Normalize"
_UNUSED = "pooler."  # BERT's own, which no encoder uses and which is drawn at random where a model has none
_NOT_READ = (MODULES,)
# What reads questions by each transformer that is loaded, so that the runs of a process hold equal ones once.
_LOADED: WeakValueDictionary[tuple[object, ...], PooledEncoder] = WeakValueDictionary()


class QueryEncoder(Protocol):
    """Turns questions into vectors."""

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""


def read_query_encoder(folder: Path, *, device: str = "auto") -> QueryEncoder:
    """Return the query encoder in a sentence-transformers folder.

    On the CPU two kinds are read without torch and sentence-transformers, whose import takes longer than the search:
    static ones, and a transformer with the graph of `write_query_graph` where onnxruntime is installed. The vectors are
    the same to within rounding.

    Args:
        folder: a sentence-transformers folder.
        device: `auto`, `cpu` or `cuda`.

    Raises:
        RunError: if the folder is missing or damaged.
        UsageError: if the device is unknown or not available.
        ModelError: if the graph is damaged or of an earlier version.
    """
    # A folder that is not there would count as a name of the hub.
    if not (folder / MODULES).is_file():
        raise damaged_run(f"{folder}: no query encoder ({MODULES} is missing)")
    try:
        encoder: QueryEncoder | None = None
        if surely_cpu(device) or pick_device(device).type == "cpu":
            encoder = read_static_encoder(folder) or read_query_graph(folder)
        return encoder or SentenceTransformerEncoder(folder, device)
    except StatgraphError:
        raise
    except Exception as error:  # each file of the folder has a reader with exceptions of its own
        raise damaged_run(f"{folder}: not loadable ({reason_of(error)})") from None


def read_query_encoders(folders: Sequence[Path], *, device: str = "auto") -> list[QueryEncoder]:
    """Return the query encoder of each folder, a transformer's as a map over pooled vectors, which equal ones share: of
    these folders, and of whatever else this process has read by them.

    Raises:
        RunError: if one is missing or damaged; the rest as in `read_query_encoder`.
    """
    encoders: list[QueryEncoder] = []
    for folder in folders:
        key = _transformer_key(folder)
        if key is None:
            encoders.append(read_query_encoder(folder, device=device))
            continue
        frozen = frozen_questions(key, folder, device)
        place = (key, device, (folder / QUERY_GRAPH).is_file(), frozen)
        base = _LOADED.get(place)
        if base is None:
            # Whatever reads a transformer has its pooled vectors.
            reader: Any = frozen or read_query_encoder(folder, device=device)
            base = _LOADED[place] = PooledEncoder(reader)
        encoders.append(_head(folder, base))
    return encoders


class SentenceTransformerEncoder:
    """Any other encoder, or any on a GPU, as sentence-transformers computes it."""

    def __init__(self, folder: Path, device: str):
        from sentence_transformers import SentenceTransformer

        from statgraph.encoders.loading import quiet_transformers

        quiet_transformers()
        self._model = SentenceTransformer(str(folder), device=str(pick_device(device)), local_files_only=True)
        self.encode([""])  # a module whose configuration is damaged may fail here at first

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        vectors: np.ndarray = self._model.encode(list(questions), show_progress_bar=False)
        return vectors.astype(np.float32)

    def pooled(self, questions: Sequence[str]) -> np.ndarray:
        """Return the pooled vectors of the transformer, (questions, width) float32."""
        vectors: np.ndarray = self._pooling.encode(list(questions), show_progress_bar=False)
        return vectors.astype(np.float32)

    def pooled_and_tokens(self, questions: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the pooled vectors, and of each question those of its tokens, (tokens, width) float32."""
        known = self._pooling.encode(list(questions), output_value=None, show_progress_bar=False)
        tokens = [each["token_embeddings"][each["attention_mask"].bool()].float().cpu().numpy() for each in known]
        return np.stack([each["sentence_embedding"].float().cpu().numpy() for each in known]), tokens

    @cached_property
    def _pooling(self) -> SentenceTransformer:
        """Return the transformer and the pooling alone."""
        from sentence_transformers import SentenceTransformer

        whole = self._model
        return SentenceTransformer(
            modules=[whole[0], whole[1]],
            device=str(whole.device),
            prompts=whole.prompts,
            default_prompt_name=whole.default_prompt_name,
        )


class PooledEncoder:
    """The transformer and pooling of a query encoder, before the map behind them."""

    def __init__(self, encoder: SentenceTransformerEncoder | OnnxQueryEncoder | FrozenQuestions):
        self._encoder = encoder

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return pooled vectors (questions, width) float32."""
        return self._encoder.pooled(questions)

    def encode_tokens(self, texts: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the pooled vectors, and of each text those of its tokens, (tokens, width) float32."""
        return self._encoder.pooled_and_tokens(texts)

    def passage_tokens(self, passages: Sequence[str]) -> list[np.ndarray]:
        """Return the vectors of each passage's tokens, (tokens, width) float32; within `questions_kept`."""
        assert isinstance(self._encoder, FrozenQuestions)
        return self._encoder.passage_tokens(passages)


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
        vectors: np.ndarray = pooled @ self._weight.T + self._bias
        if self._unit_length:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors


def _transformer_key(folder: Path) -> str | None:
    """Return what is equal for equal transformers, with their tokenizers, prompts and pooling; None for an encoder that
    is not a transformer with a linear map behind it."""
    try:
        modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        names = tuple(module["type"].rpartition(".")[2] for module in modules)
        if names[:3] != _CHAIN or names[3:] not in ((), (_NORMALIZE,)):
            return None
        weights = folder / modules[0]["path"] / MODULE_WEIGHTS
        digest = hashlib.sha256(weights_hash(weights, without=(_UNUSED,)).encode())
        behind = {module["path"] for module in modules[2:]}
        for path in sorted(folder.rglob("*.json")):
            name = path.relative_to(folder).as_posix()
            if name not in _NOT_READ and name.partition("/")[0] not in behind:
                digest.update(name.encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()
    except Exception:  # of safetensors or JSON: reading the encoder reports the damage
        return None


def _head(folder: Path, base: PooledEncoder) -> HeadEncoder:
    from safetensors.numpy import load_file

    with reading(folder):
        modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        weights = load_file(folder / modules[2]["path"] / MODULE_WEIGHTS)
        return HeadEncoder(base, weights["linear.weight"], weights["linear.bias"], unit_length=len(modules) > 3)
