"""The inputs of a run's graph encoder, saved so that it can run again without the text encoders."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from statgraph import artifacts
from statgraph._version import __version__
from statgraph.encoders.article_text import HASH_BYTES
from statgraph.errors import damaged_run
from statgraph.graph.relations import CITING, NODE_TYPES, TRAIN_SPLIT
from statgraph.law.records import CitingText, Question

QUESTIONS, CITING_TEXTS = "questions.jsonl", "citing.jsonl"
_VECTORS, _HASHES = "{}.npy", "{}.hashes.npy"  # of a node type
Record = TypeVar("Record", Question, CitingText)


@dataclass(frozen=True)
class GraphInputs:
    """The nodes of a graph as its encoder read them.

    The articles' paths give the tree, so that the graph needs nothing more than these and the articles of the run.

    Attributes:
        vectors: by node type (nodes, width) float32, what the text encoders made of each node.
        hashes: by node type (nodes, 16) uint8, `text_hashes` of the texts behind the vectors.
        questions: the question nodes, with the articles that they cite.
        citing: the nodes of citing texts, if the graph has such; read back, they name no question, which matters in
            training alone.
    """

    vectors: Mapping[str, np.ndarray]
    hashes: Mapping[str, np.ndarray]
    questions: tuple[Question, ...]
    citing: tuple[CitingText, ...] = ()

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return max(int(vectors.shape[1]) for vectors in self.vectors.values())


def write_graph_inputs(inputs: GraphInputs, folder: Path) -> None:
    """Write a folder whole: `TYPE.npy` and `TYPE.hashes.npy` for each node type, `questions.jsonl`, `citing.jsonl` if
    the graph has such nodes, `manifest.json`."""
    with artifacts.replaced_folder(folder) as staging:
        for node_type, of_type in inputs.vectors.items():
            vectors = of_type.reshape(-1, inputs.width)
            np.save(staging / _VECTORS.format(node_type), vectors.astype(np.float32, copy=False), allow_pickle=False)
            np.save(staging / _HASHES.format(node_type), inputs.hashes[node_type], allow_pickle=False)
        lines = ([question.question_id, question.text, question.article_ids] for question in inputs.questions)
        artifacts.write_json_lines(staging / QUESTIONS, lines)
        if CITING in inputs.vectors:
            lines = ([text.citing_id, text.title, text.text, text.article_ids] for text in inputs.citing)
            artifacts.write_json_lines(staging / CITING_TEXTS, lines)
        manifest = {
            "nodes": {node_type: len(inputs.hashes[node_type]) for node_type in inputs.vectors},
            "width": inputs.width,
            "versions": {"statgraph": __version__},
        }
        artifacts.write_json(staging / artifacts.MANIFEST, manifest)


def read_graph_inputs(folder: Path) -> GraphInputs:
    """Return the inputs in a folder, vectors and hashes memory-mapped.

    Raises:
        RunError: if a file is missing or damaged, or the files do not belong together.
    """
    if not folder.is_dir():
        raise damaged_run(f"{folder}: missing")
    with artifacts.reading(folder / artifacts.MANIFEST):
        manifest = artifacts.read_json(folder / artifacts.MANIFEST)
        more = [CITING] if CITING in manifest["nodes"] else []
        counts = {node_type: int(manifest["nodes"][node_type]) for node_type in (*NODE_TYPES, *more)}
        width = int(manifest["width"])

    def arrays(name: str, n_columns: int, dtype: str) -> dict[str, np.ndarray]:
        return {
            node_type: artifacts.read_array(folder / name.format(node_type), (count, n_columns), dtype, mapped=True)
            for node_type, count in counts.items()
        }

    vectors, hashes = arrays(_VECTORS, width, "float32"), arrays(_HASHES, HASH_BYTES, "uint8")
    questions = _read_lines(
        folder / QUESTIONS, lambda name, text, article_ids: Question(name, text, TRAIN_SPLIT, tuple(article_ids))
    )
    citing: tuple[CitingText, ...] = ()
    if CITING in counts:
        citing = _read_lines(
            folder / CITING_TEXTS,
            lambda name, title, text, article_ids: CitingText(name, title, text, tuple(article_ids)),
        )
    return GraphInputs(vectors, hashes, questions, citing)


def _read_lines(path: Path, record: Callable[..., Record]) -> tuple[Record, ...]:
    with artifacts.reading(path), path.open(encoding="utf-8") as file:
        return tuple(record(*json.loads(line)) for line in file)
