"""Loading a run's query encoder: static ones in NumPy, transformers in ONNX Runtime, else sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from statgraph.device import PRECISIONS, pick_device, surely_cpu
from statgraph.encoders.backbones import MODULES
from statgraph.errors import DependencyError, RunError, StatgraphError, UsageError, reason_of, unknown_name
from statgraph.inference.onnx_query import QUERY_GRAPHS, read_query_graph
from statgraph.inference.static_query import StaticQueryEncoder, static_outline


class QueryEncoder(Protocol):
    """Turns questions into vectors."""

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""


def load_query_encoder(folder: Path, *, device: str = "auto", precision: str = "float32") -> QueryEncoder:
    """Return the query encoder in a sentence-transformers folder.

    On the CPU two kinds are read without torch and sentence-transformers, whose import takes longer than the search:
    static ones, and a transformer with the graph of `write_query_graph` where onnxruntime is installed. The vectors are
    the same to within rounding.

    Args:
        folder: a sentence-transformers folder.
        device: `auto`, `cpu` or `cuda`.
        precision: of a transformer; a static encoder is float32 always. `float32`; `bfloat16`, by torch, faster where
            the hardware multiplies it, with vectors at a cosine of about 0.9999 to float32's; `int8`, on the CPU, by
            the graph that `statgraph quicken --precision int8` writes, faster still, at about 0.9999.

    Raises:
        UsageError: if the device or the precision is unknown or not available.
        DependencyError: if onnxruntime is missing, and int8 was asked for.
        ModelError: if the graph is damaged or older than the weights.
        Exception: whatever the reader of a damaged file raises.
    """
    if precision not in PRECISIONS:
        raise unknown_name("precision", precision, PRECISIONS)
    on_cpu = surely_cpu(device) or pick_device(device).type == "cpu"
    if on_cpu:
        outline = static_outline(folder)
        if outline is not None:
            return StaticQueryEncoder(outline)
        graph = read_query_graph(folder, precision) if precision in QUERY_GRAPHS else None
        if graph is not None:
            return graph
    if precision == "int8":
        raise _no_int8(folder, on_cpu=on_cpu)
    return SentenceTransformerEncoder(folder, device, precision)


def read_query_encoder(folder: Path, *, device: str = "auto", precision: str = "float32") -> QueryEncoder:
    """Return the query encoder of a run; the rest as in `load_query_encoder`.

    Raises:
        RunError: if it is missing or damaged.
    """
    # A folder that is not there would count as a name of the hub.
    if not (folder / MODULES).is_file():
        raise RunError(f"{folder}: no query encoder ({MODULES} is missing); train the run again")
    try:
        return load_query_encoder(folder, device=device, precision=precision)
    except StatgraphError:
        raise
    except Exception as error:  # each file of the folder has a reader with exceptions of its own
        raise RunError(f"{folder}: not loadable ({reason_of(error)}); train the run again") from None


def _no_int8(folder: Path, *, on_cpu: bool) -> Exception:
    if not on_cpu:
        return UsageError("precision 'int8' is for the CPU; use --device cpu, or another precision")
    if find_spec("onnxruntime") is None:
        return DependencyError("onnxruntime: not installed; run: pip install 'statgraph[onnx]'")
    graph = QUERY_GRAPHS["int8"]
    return UsageError(
        f"{folder}: no {graph} of this version; write it with `statgraph quicken --precision int8`, or use float32"
    )


class SentenceTransformerEncoder:
    """Any other encoder, or any on a GPU, as sentence-transformers computes it.

    In bfloat16 a transformer's layers compute so; pooling and all behind it stay in float32.
    """

    def __init__(self, folder: Path, device: str, precision: str = "float32"):
        from sentence_transformers import SentenceTransformer

        from statgraph.encoders.quiet import quiet_transformers

        quiet_transformers()
        self._model = SentenceTransformer(str(folder), device=str(pick_device(device)), local_files_only=True)
        if precision == "bfloat16" and type(self._model[0]).__name__ == "Transformer":
            self._model[0].bfloat16().register_forward_hook(_in_float32)
        self._pooling = None
        self.gives_pooled = type(self._model[0]).__name__ == "Transformer"
        self.encode([""])  # a module whose configuration is damaged may fail here at first

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        return self._encoded(self._model, questions)

    def pooled(self, questions: Sequence[str]) -> np.ndarray:
        """Return the pooled vectors of the transformer, (questions, width) float32."""
        if self._pooling is None:
            from sentence_transformers import SentenceTransformer

            whole = self._model
            self._pooling = SentenceTransformer(
                modules=[whole[0], whole[1]],
                device=str(whole.device),
                prompts=whole.prompts,
                default_prompt_name=whole.default_prompt_name,
            )
        return self._encoded(self._pooling, questions)

    @staticmethod
    def _encoded(model, questions: Sequence[str]) -> np.ndarray:
        vectors = model.encode(list(questions), show_progress_bar=False, convert_to_numpy=True)
        return vectors.astype(np.float32)


def _in_float32(module, inputs, features: dict) -> dict:
    return features | {"token_embeddings": features["token_embeddings"].float()}
