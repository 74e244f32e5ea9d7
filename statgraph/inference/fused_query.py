"""A saved BERT query encoder run by ONNX Runtime: quicker for one question than torch, and there before torch would be
imported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from statgraph.device import has_vnni
from statgraph.errors import ModelError
from statgraph.inference.bert_query import BertQueryEncoder, batches, bert_tokenizer
from statgraph.inference.encoder_outline import EncoderOutline, json_object
from statgraph.inference.fused_graph import WEIGHT_MARKS
from statgraph.inference.fused_operators import LENGTHS, TOKEN_IDS
from statgraph.inference.weight_places import weight_marks

QUERY_GRAPHS = {"float32": "query.onnx", "int8": "query.int8.onnx"}
MOST_PADDING = 0.1  # of a batch's places: each goes through all linear maps
_SILENT = 4  # of ONNX Runtime's levels of logging: what it logs as an error it raises too
_EXACT_BYTES = "session.x64quantprecision"  # codes made unsigned, whose products do not overflow: slower
_REMEDIES = {
    "float32": "delete it, and torch encodes the questions, or write it anew with `statgraph quicken`",
    "int8": "write it anew with `statgraph quicken --precision int8`",
}


class FusedQueryEncoder:
    """BERT, pooled, then the linear map, then unit length, as `write_query_graph` wrote it beside the weights.

    Questions of nearly one length go through it together. The word vectors are read from the mapped file as they are
    asked for; the layers take as many threads as torch would. These wait by spinning, for some 30 ms after a question
    at most: without it, or where it ends with the question, one took half as long again.

    Args:
        outline: an encoder that `knows` returns true for.
        root: the query encoder's folder.
        precision: of the layers' products: `float32`, or `int8`, by the graph of that.
        graph: the graph's file, where it is not yet the folder's own.

    Raises:
        ModelError: if the graph is damaged, or was written for weights of another shape.
        OSError, KeyError, ValueError: if another file is missing or damaged (tokenizers raises a plain Exception).
    """

    def __init__(self, outline: EncoderOutline, root: Path, precision: str = "float32", *, graph: Path | None = None):
        config = json_object(outline.first / "config.json")
        self._prompt = outline.prompt
        # In int8 a scale is common to all tokens of a batch: alone, a question always has the same vector.
        self._alone = precision == "int8"
        self._tokenizer = bert_tokenizer(outline, config)
        self._session = _session(graph or root / QUERY_GRAPHS[precision], outline, root, precision)

    @classmethod
    def knows(cls, outline: EncoderOutline, root: Path, precision: str = "float32") -> bool:
        """Return whether a plain BERT's folder has the graph, and this machine ONNX Runtime."""
        has_graph = (root / QUERY_GRAPHS[precision]).is_file() and find_spec("onnxruntime") is not None
        return has_graph and BertQueryEncoder.knows(outline)

    def encode(self, questions: Sequence[str], *, most_padding: float = MOST_PADDING) -> np.ndarray:
        """Return vectors (questions, width) float32; at most a share `most_padding` of a batch's places is padding. In
        int8 each question is a batch of its own."""
        encodings = self._tokenizer.encode_batch_fast([self._prompt + question for question in questions])
        ids = [encoding.ids for encoding in encodings]
        vectors: list[np.ndarray] = [np.empty(0, dtype=np.float32)] * len(ids)
        lengths = [len(text_ids) for text_ids in ids]
        for rows in ([row] for row in range(len(ids))) if self._alone else batches(lengths, most_padding=most_padding):
            for row, vector in zip(rows, self._vectors([ids[row] for row in rows]), strict=True):
                vectors[row] = vector
        return np.stack(vectors)

    def _vectors(self, ids: Sequence[Sequence[int]]) -> np.ndarray:
        """Return vectors (texts, width) of the token ids of texts, none without a token."""
        lengths = np.array([len(text_ids) for text_ids in ids], dtype=np.int32)
        filled = np.zeros((len(ids), lengths.max()), dtype=np.int64)  # (texts, longest)
        for row, text_ids in enumerate(ids):
            filled[row, : len(text_ids)] = text_ids
        return self._session.run(None, {TOKEN_IDS: filled, LENGTHS: lengths})[0]


def loaded_graph(path: Path, place: Path, remedy: str, *, exact_bytes: bool = False):
    """Return ONNX Runtime's session of a graph.

    Args:
        path: the graph's file.
        place: what is named where it cannot be loaded.
        remedy: what to do then.
        exact_bytes: whether products of bytes must be added up without overflow, which a processor without VNNI does
            only where it is told to.

    Raises:
        ModelError: if the graph, or a file of weights that it points to, is damaged.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads()
    options.log_severity_level = _SILENT
    options.add_session_config_entry(_EXACT_BYTES, "1" if exact_bytes else "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of onnxruntime's own, a dozen classes
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"{place}: not loadable ({reason}); {remedy}") from None


def n_threads() -> int:
    """Return how many threads torch would compute with, told without it: OMP_NUM_THREADS, else one a processor that
    this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _session(path: Path, outline: EncoderOutline, root: Path, precision: str):
    """Return ONNX Runtime's session of a graph that fits the weights it points to."""
    session = loaded_graph(path, path, _REMEDIES[precision], exact_bytes=precision == "int8" and not has_vnni())
    marks = weight_marks(outline, root, values=precision == "int8")
    if session.get_modelmeta().custom_metadata_map.get(WEIGHT_MARKS) != marks:
        raise ModelError(f"{path}: does not fit the weights beside it, written later; {_REMEDIES[precision]}")
    return session
