"""A saved BERT query encoder run by ONNX Runtime: quicker for one question than torch, and there before torch would be
imported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from statgraph.errors import ModelError
from statgraph.text.bert_query import BertQueryEncoder, batches, bert_tokenizer
from statgraph.text.encoder_outline import EncoderOutline, json_object
from statgraph.text.fused_graph import LENGTHS, TOKEN_IDS, WEIGHT_MARKS, weight_marks

QUERY_GRAPH = "query.onnx"
MOST_PADDING = 0.1  # of a batch's places: each goes through all linear maps
_ERRORS_ONLY = 3  # of ONNX Runtime's levels of logging
_REMEDY = "delete it, and torch encodes the questions, or write it anew with `statgraph quicken`"


class FusedQueryEncoder:
    """BERT, pooled, then the linear map, then unit length, as `write_query_graph` wrote it beside the weights.

    Questions of nearly one length go through it together. The word vectors are read from the mapped file as they are
    asked for; the layers take as many threads as torch would. These wait by spinning, for some 30 ms after a question
    at most: without it, or where it ends with the question, one took half as long again.

    Args:
        outline: an encoder that `knows` returns true for.
        root: the query encoder's folder.
        graph: the graph's file, where it is not yet the folder's own.

    Raises:
        ModelError: if the graph is damaged, or was written for weights of another shape.
        OSError, KeyError, ValueError: if another file is missing or damaged (tokenizers raises a plain Exception).
    """

    def __init__(self, outline: EncoderOutline, root: Path, graph: Path | None = None):
        config = json_object(outline.first / "config.json")
        self._prompt = outline.prompt
        self._tokenizer = bert_tokenizer(outline, config)
        self._session = _session(graph or root / QUERY_GRAPH, outline, root)

    @classmethod
    def knows(cls, outline: EncoderOutline, root: Path) -> bool:
        """Return whether a plain BERT's folder has the graph, and this machine ONNX Runtime."""
        has_graph = (root / QUERY_GRAPH).is_file() and find_spec("onnxruntime") is not None
        return has_graph and BertQueryEncoder.knows(outline)

    def encode(self, questions: Sequence[str], *, most_padding: float = MOST_PADDING) -> np.ndarray:
        """Return vectors (questions, width) float32; at most a share `most_padding` of a batch's places is padding."""
        encodings = self._tokenizer.encode_batch([self._prompt + question for question in questions])
        ids = [encoding.ids for encoding in encodings]
        vectors: list[np.ndarray] = [np.empty(0, dtype=np.float32)] * len(ids)
        for rows in batches([len(text_ids) for text_ids in ids], most_padding=most_padding):
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


def n_threads() -> int:
    """Return how many threads torch would compute with, told without it: OMP_NUM_THREADS, else one a processor that
    this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _session(path: Path, outline: EncoderOutline, root: Path):
    """Return ONNX Runtime's session of a graph that fits the weights it points to."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads()
    options.log_severity_level = _ERRORS_ONLY
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of onnxruntime's own, a dozen classes
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"{path}: not loadable ({reason}); {_REMEDY}") from None
    if session.get_modelmeta().custom_metadata_map.get(WEIGHT_MARKS) != weight_marks(outline, root):
        raise ModelError(f"{path}: does not fit the weights beside it, written later; {_REMEDY}")
    return session
