"""A transformer query encoder run by ONNX Runtime: faster for one question than torch, and without importing it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from statgraph.device import usable_cores
from statgraph.encoders.inference.static_query import MODULE_WEIGHTS
from statgraph.errors import ModelError, reason_of
from statgraph.extras import install_command

QUERY_GRAPH = "query.onnx"
TOKEN_IDS, TOKEN_MASK = "input_ids", "attention_mask"  # the graph's inputs
GRAPH_OUTPUTS = VECTORS, POOLED, TOKENS = "sentence_embedding", "pooled", "token_embeddings"
FACTS = "statgraph.query_encoder"  # the graph's own note of its tokenizer, its prompt and the weights it was made of
_PADDED = 1.5  # times the shortest text of a batch: padding costs as much as text
BATCH = 32  # questions
_SILENT = 4  # of ONNX Runtime's levels of logging: what it logs as an error it raises too


class OnnxQueryEncoder:
    """The query encoder that `write_query_graph` wrote into a folder.

    Args:
        folder: the query encoder's.
        graph: the graph's file, where it is not yet the folder's own.

    Raises:
        ModelError: if the graph is damaged, or of other weights than those beside it.
        OSError, KeyError, ValueError: if another file is missing or damaged (tokenizers raises a plain Exception).
    """

    def __init__(self, folder: Path, graph: Path | None = None):
        import onnxruntime
        from tokenizers import Tokenizer

        path = graph or folder / QUERY_GRAPH
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = n_threads()
        options.log_severity_level = _SILENT
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            facts = json.loads(self._session.get_modelmeta().custom_metadata_map[FACTS])
        except Exception as error:  # of onnxruntime's own, a dozen classes; a KeyError for another program's graph
            raise ModelError(f"{path}: cannot be loaded ({reason_of(error)}); {_remedy(folder)}") from None
        if facts["weights_hash"] != encoder_hash(folder):
            raise ModelError(f"{path}: of other weights than those beside it; {_remedy(folder)}")
        self._prompt, self._pad_id = facts["prompt"], facts["pad_id"]
        self._tokenizer = Tokenizer.from_file(str(folder / facts["tokenizer"]))
        self._tokenizer.no_padding()
        if facts["max_tokens"] is not None:
            self._tokenizer.enable_truncation(facts["max_tokens"])

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        return np.stack([vector for (vector,) in self._outputs(questions, VECTORS)])

    def pooled(self, questions: Sequence[str]) -> np.ndarray:
        """Return the pooled vectors of the transformer, (questions, width) float32."""
        return np.stack([vector for (vector,) in self._outputs(questions, POOLED)])

    def pooled_and_tokens(self, questions: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the pooled vectors, and of each question those of its tokens, (tokens, width) float32."""
        pooled, tokens = zip(*self._outputs(questions, POOLED, TOKENS), strict=True)
        return np.stack(pooled), list(tokens)

    def _outputs(self, questions: Sequence[str], *outputs: str) -> list[list[np.ndarray]]:
        """Return each question's outputs, computed in batches of about equal length."""
        encodings = self._tokenizer.encode_batch_fast([self._prompt + question for question in questions])
        ids = [encoding.ids for encoding in encodings]
        batches: list[list[int]] = []
        for row in sorted(range(len(ids)), key=lambda row: len(ids[row])):
            if not batches or len(batches[-1]) == BATCH or len(ids[row]) > _PADDED * len(ids[batches[-1][0]]):
                batches.append([])
            batches[-1].append(row)
        found: dict[int, list[np.ndarray]] = {}
        for batch in batches:
            arrays = self._run([ids[row] for row in batch], outputs)
            for place, row in enumerate(batch):
                found[row] = [each[place][: len(ids[row])] if each.ndim == 3 else each[place] for each in arrays]
        return [found[row] for row in range(len(ids))]

    def _run(self, ids: Sequence[Sequence[int]], outputs: Sequence[str]) -> list[np.ndarray]:
        """Return outputs, each (texts, ...), for the token ids of texts."""
        filled = np.full((len(ids), max(map(len, ids))), self._pad_id, dtype=np.int64)  # (texts, longest)
        mask = np.zeros_like(filled)
        for row, text_ids in enumerate(ids):
            filled[row, : len(text_ids)] = text_ids
            mask[row, : len(text_ids)] = 1
        arrays: list[np.ndarray] = self._session.run(list(outputs), {TOKEN_IDS: filled, TOKEN_MASK: mask})
        return arrays


def read_query_graph(folder: Path) -> OnnxQueryEncoder | None:
    """Return the encoder of a folder's graph, or None where there is no graph or onnxruntime is missing; one line of
    the log says which, and what to do.

    Raises:
        ModelError: if the graph is damaged, or of other weights than those beside it.
    """
    why, remedy = f"{folder} has no {QUERY_GRAPH}", _remedy(folder)
    if (folder / QUERY_GRAPH).is_file():
        if find_spec("onnxruntime") is not None:
            return OnnxQueryEncoder(folder)
        why, remedy = "onnxruntime is not installed", f"run: {install_command('onnx')}"
    logging.getLogger(__name__).info("sentence-transformers encodes the questions, since %s; %s", why, remedy)
    return None


def weights_hash(*paths: Path, without: tuple[str, ...] = ()) -> str:
    """Return a hash of the weights in safetensors files that reads little of them: the name, the shape and the first
    row of each, since training changes them all. Names that begin with one of `without` do not count."""
    from safetensors import safe_open

    digest = hashlib.sha256()
    for path in paths:
        with safe_open(path, framework="numpy") as weights:
            for name in sorted(name for name in weights.keys() if not name.startswith(without)):  # noqa: SIM118
                weight = weights.get_slice(name)
                digest.update(f"{name} {weight.get_shape()}".encode() + weight[:1].tobytes())
    return digest.hexdigest()


def encoder_hash(folder: Path) -> str:
    """Return the hash of the weights of all modules of a query encoder."""
    return weights_hash(*sorted(folder.rglob(MODULE_WEIGHTS)))


def n_threads() -> int:
    """Return how many threads torch would compute with, without importing it: OMP_NUM_THREADS, else one for each
    processor that this process may use."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and int(threads):
        return int(threads)
    return usable_cores()


def _remedy(folder: Path) -> str:
    return f"write it with `statgraph quicken --run {folder.parent}`"
