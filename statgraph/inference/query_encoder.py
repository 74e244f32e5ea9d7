"""Loading a run's query encoder: by our own readers where they know it, else by sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from statgraph.device import PRECISIONS, pick_device, surely_cpu
from statgraph.errors import DependencyError, UsageError
from statgraph.inference.bert_query import BertQueryEncoder
from statgraph.inference.encoder_outline import encoder_outline
from statgraph.inference.fused_query import QUERY_GRAPHS, FusedQueryEncoder
from statgraph.inference.static_query import StaticQueryEncoder


class QueryEncoder(Protocol):
    """Turns questions into vectors."""

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""


def load_query_encoder(folder: Path, *, device: str = "auto", precision: str = "float32") -> QueryEncoder:
    """Return the query encoder in a sentence-transformers folder.

    On the CPU the shapes that `BiEncoder.save_question_encoder` writes are read without sentence-transformers, whose
    import takes longer than the search: static ones without torch too, and so a BERT's in float32 with the graph of
    `write_query_graph` beside it, where onnxruntime is installed. The vectors are the same to within rounding.

    Args:
        folder: a sentence-transformers folder.
        device: `auto`, `cpu` or `cuda`.
        precision: `float32`, or for the layers of a BERT on the CPU: `bfloat16`, quicker on CPUs that multiply it
            (AMX), with vectors at a cosine of about 0.9999 to the others; `int8`, quicker for single questions, at
            about 0.997, by the graph that `write_query_graph` wrote for it. A static encoder is float32 always.

    Raises:
        UsageError: if the device or the precision is not known, or not to be had.
        DependencyError: if onnxruntime is missing, and int8 was asked for.
        ModelError: if the graph is damaged or older than the weights.
        Exception: whatever the reader of a damaged file raises.
    """
    if precision not in PRECISIONS:
        raise UsageError(f"precision '{precision}' is not known; use one of {', '.join(PRECISIONS)}")
    on_cpu = surely_cpu(device) or pick_device(device).type == "cpu"
    outline = encoder_outline(folder) if on_cpu else None
    if outline is not None and StaticQueryEncoder.knows(outline):
        return StaticQueryEncoder(outline)
    if outline is not None and precision in QUERY_GRAPHS and FusedQueryEncoder.knows(outline, folder, precision):
        return FusedQueryEncoder(outline, folder, precision)
    if outline is not None and BertQueryEncoder.knows(outline):
        if precision == "int8":
            raise _no_int8(folder)
        import torch

        return BertQueryEncoder(outline, getattr(torch, precision))
    if precision != "float32":
        raise UsageError(
            f"precision '{precision}' is for a BERT or static query encoder on the CPU, and {folder} on device "
            f"'{device}' is none; use {'float32' if on_cpu else '--device cpu, or float32'}"
        )
    return SentenceTransformerEncoder(folder, device)


def _no_int8(folder: Path) -> Exception:
    if find_spec("onnxruntime") is None:
        return DependencyError("onnxruntime: not installed; run: pip install 'statgraph[onnx]'")
    graph = QUERY_GRAPHS["int8"]
    return UsageError(f"{folder}: no {graph}; write it with `statgraph quicken --precision int8`, or use float32")


class SentenceTransformerEncoder:
    """Any other encoder, or any on a GPU, as sentence-transformers computes it."""

    def __init__(self, folder: Path, device: str):
        from sentence_transformers import SentenceTransformer

        from statgraph.encoders.quiet import quiet_transformers

        quiet_transformers()
        self._model = SentenceTransformer(str(folder), device=str(pick_device(device)), local_files_only=True)

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        vectors = self._model.encode(list(questions), show_progress_bar=False, convert_to_numpy=True)
        return vectors.astype(np.float32)
