"""A transformer query encoder run by ONNX Runtime: faster for one question than torch, and without importing it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from statgraph.errors import ModelError, reason_of

QUERY_GRAPHS = {"float32": "query.onnx", "int8": "query.int8.onnx"}
MODULE_WEIGHTS = "model.safetensors"
TOKEN_IDS, TOKEN_MASK = "input_ids", "attention_mask"  # the graph's inputs
VECTORS, POOLED = "sentence_embedding", "pooled"  # its outputs
FACTS = "statgraph.query_encoder"  # the graph's own note of its tokenizer, prompt and weights
MOST_PADDING = 0.1  # of a batch's places: each goes through all linear maps
TOKENS_PER_BATCH = 8192
_SILENT = 4  # of ONNX Runtime's levels of logging: what it logs as an error it raises too
_LENGTH_BYTES = 8  # at the start of a safetensors file: the length of its header
_PROBED_BYTES = 256  # of each weight: training changes them all


class OnnxQueryEncoder:
    """The query encoder that `write_query_graph` wrote into a folder.

    Questions of nearly one length go through it together. The word vectors are read from the mapped file on demand.

    Args:
        folder: the query encoder's.
        precision: `float32` or `int8`, each with a graph of its own.
        graph: the graph's file, where it is not yet the folder's own.

    Raises:
        ModelError: if the graph is damaged, or was written for other weights or by an earlier version.
        OSError, KeyError, ValueError: if another file is missing or damaged (tokenizers raises a plain Exception).
    """

    def __init__(self, folder: Path, precision: str = "float32", *, graph: Path | None = None):
        from tokenizers import Tokenizer

        path = graph or folder / QUERY_GRAPHS[precision]
        self._session = _session(path, folder, precision)
        notes = self._session.get_modelmeta().custom_metadata_map
        if FACTS not in notes:
            raise OldGraphError(
                f"{path}: ignored, since an earlier version of statgraph wrote it; {_remedy(folder, precision)}"
            )
        facts = json.loads(notes[FACTS])
        if facts["weights"] != weight_marks(folder):
            raise ModelError(
                f"{path}: does not fit the weights beside it, which are newer; {_remedy(folder, precision)}"
            )
        self._prompt, self._pad_id = facts["prompt"], facts["pad_id"]
        self._tokenizer = Tokenizer.from_file(str(folder / facts["tokenizer"]))
        self._tokenizer.no_padding()
        if facts["max_tokens"] is not None:
            self._tokenizer.enable_truncation(facts["max_tokens"])

    @property
    def gives_pooled(self) -> bool:
        """Return whether the graph gives what is before the last map, too."""
        return any(output.name == POOLED for output in self._session.get_outputs())

    def encode(self, questions: Sequence[str], *, most_padding: float = MOST_PADDING) -> np.ndarray:
        """Return vectors (questions, width) float32; at most a share `most_padding` of a batch's places is padding."""
        return self._outputs(questions, VECTORS, most_padding)

    def pooled(self, questions: Sequence[str]) -> np.ndarray:
        """Return the pooled vectors of the transformer, (questions, width) float32."""
        return self._outputs(questions, POOLED, MOST_PADDING)

    def _outputs(self, questions: Sequence[str], output: str, most_padding: float) -> np.ndarray:
        encodings = self._tokenizer.encode_batch_fast([self._prompt + question for question in questions])
        ids = [encoding.ids for encoding in encodings]
        lengths = [len(text_ids) for text_ids in ids]
        rows = list(batches(lengths, most_padding=most_padding))
        vectors = np.concatenate([self._run([ids[row] for row in batch], output) for batch in rows])
        return vectors[np.argsort(np.concatenate(rows))]

    def _run(self, ids: Sequence[Sequence[int]], output: str) -> np.ndarray:
        """Return an output (texts, width) for the token ids of texts."""
        filled = np.full((len(ids), max(map(len, ids))), self._pad_id, dtype=np.int64)  # (texts, longest)
        mask = np.zeros_like(filled)
        for row, text_ids in enumerate(ids):
            filled[row, : len(text_ids)] = text_ids
            mask[row, : len(text_ids)] = 1
        return self._session.run([output], {TOKEN_IDS: filled, TOKEN_MASK: mask})[0]


def read_query_graph(folder: Path, precision: str) -> OnnxQueryEncoder | None:
    """Return the encoder of a folder's graph, or None where there is no graph, onnxruntime is missing, or an earlier
    version of statgraph wrote the graph; one line of the log says which, and what to do.

    Raises:
        ModelError: if the graph is damaged, or was written for other weights.
    """
    path = folder / QUERY_GRAPHS[precision]
    log = logging.getLogger(__name__)
    try:
        if path.is_file() and find_spec("onnxruntime") is not None:
            return OnnxQueryEncoder(folder, precision)
        why, remedy = f"{folder} has no {path.name}", _remedy(folder, precision)
        if path.is_file():
            why, remedy = "onnxruntime is not installed", "run: pip install 'statgraph[onnx]'"
        log.info("sentence-transformers encodes the questions, since %s; %s", why, remedy)
    except OldGraphError as error:
        log.warning("%s", error)
    return None


class OldGraphError(ModelError):
    """An earlier version of statgraph wrote the graph."""


def weight_marks(folder: Path, *, without: str | None = None) -> dict[str, str]:
    """Return what changes with the name, shape, type or beginning of any weight: safetensors file -> hash and size.

    Args:
        folder: of an encoder.
        without: the beginning of the names of weights whose values do not count.

    Raises:
        OSError, ValueError: if a file is missing or damaged.
    """
    marks = {}
    for path in sorted(folder.rglob("*.safetensors")):
        header, start = _header(path)
        digest = hashlib.sha256(json.dumps(header).encode())
        counted = [about for name, about in header.items() if without is None or not name.startswith(without)]
        with path.open("rb") as file:
            for about in counted:
                file.seek(start + about["data_offsets"][0])
                digest.update(file.read(_PROBED_BYTES))
        marks[path.relative_to(folder).as_posix()] = f"{digest.hexdigest()} {path.stat().st_size}"
    return marks


def word_vectors_place(path: Path, name: str) -> dict[str, int] | None:
    """Return the offset and length in bytes of a weight in a safetensors file; None where it is not there or not
    float32."""
    header, start = _header(path) if path.is_file() else ({}, 0)
    about = header.get(name, {})
    if about.get("dtype") != "F32":
        return None
    begin, end = about["data_offsets"]
    return {"offset": start + begin, "length": end - begin}


def batches(lengths: Sequence[int], *, most_padding: float) -> Iterator[list[int]]:
    """Yield the rows of texts, the shortest first, at most `TOKENS_PER_BATCH` tokens with their padding at a time.

    Args:
        lengths: of the texts, in tokens.
        most_padding: the largest share of a batch's places that may be padding.
    """
    batch: list[int] = []
    n_tokens = 0
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        n_places = lengths[row] * (len(batch) + 1)
        n_padding = n_places - n_tokens - lengths[row]
        if batch and (n_places > TOKENS_PER_BATCH or n_padding > most_padding * n_places):
            yield batch
            batch, n_tokens = [], 0
        batch.append(row)
        n_tokens += lengths[row]
    if batch:
        yield batch


def n_threads() -> int:
    """Return how many threads torch would compute with, without importing it: OMP_NUM_THREADS, else one for each
    processor that this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _session(path: Path, folder: Path, precision: str):
    """Return ONNX Runtime's session of a graph."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads()
    options.log_severity_level = _SILENT
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of onnxruntime's own, a dozen classes
        raise ModelError(f"{path}: cannot be loaded ({reason_of(error)}); {_remedy(folder, precision)}") from None


def _header(path: Path) -> tuple[dict[str, dict], int]:
    """Return (weight -> dtype, shape and data_offsets; where the data begin) of a safetensors file."""
    with path.open("rb") as file:
        n_bytes = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if _LENGTH_BYTES + n_bytes > path.stat().st_size:
            raise ValueError(f"{path.name} ends within its header")
        header = json.loads(file.read(n_bytes))
    header.pop("__metadata__", None)
    return header, _LENGTH_BYTES + n_bytes


def _remedy(folder: Path, precision: str) -> str:
    option = "" if precision == "float32" else f" --precision {precision}"
    return f"write it with `statgraph quicken --run {folder.parent}{option}`"
