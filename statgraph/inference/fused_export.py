"""Writing the fused graph, which ONNX Runtime runs over a BERT encoder's weights, once its vectors are torch's."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from statgraph.artifacts import replaced_file
from statgraph.errors import DependencyError, ModelError
from statgraph.inference.bert_query import BertQueryEncoder
from statgraph.inference.encoder_outline import MODULES, encoder_outline
from statgraph.inference.fused_graph import fused_bert
from statgraph.inference.fused_query import QUERY_GRAPHS, FusedQueryEncoder
from statgraph.inference.input_ranges import input_ranges

# Of a component, where the longest vector has length 1. With codes of e5-small's weights they differ by 0.01; with
# codes of the wrong sign, of a small BERT's, by 0.6.
TOLERANCES = {"float32": 1e-5, "int8": 0.03}
_PACKAGES = ("onnx", "onnxruntime")
_PROBES = (
    "bail",
    "Who gets the deposit back?",
    "Wie betaalt de herstelling van het dak?",
    "Puis-je être licencié pendant un arrêt maladie ?",
    "Mon voisin a planté un arbre à moins de deux mètres de ma clôture ; puis-je exiger qu'il l'enlève, même s'il est "
    "là depuis dix ans et que l'ancien propriétaire du terrain ne s'en est jamais plaint ?",
)


def write_query_graph(folder: Path, precision: str = "float32", texts: Sequence[str] = ()) -> float:
    """Write a graph into a query encoder's folder; return the largest difference of a component to torch's vectors,
    with the longest of these taken as 1.

    In float32, `query.onnx` holds no weights, only their places in the safetensors files; in int8, `query.int8.onnx`
    holds the layers'. It is there only once its vectors are torch's to the precision's tolerance, alone and padded;
    what stood in its place stays until then. sentence-transformers passes it over.

    Args:
        folder: a sentence-transformers folder that `BertQueryEncoder` knows.
        precision: `float32` or `int8`.
        texts: for int8: some of those that are searched, by which it is measured how large a layer's inputs become.

    Raises:
        DependencyError: if onnx or onnxruntime is missing.
        ModelError: if the folder holds another encoder, or the vectors differ by more.
        OSError, KeyError, ValueError: if a file is missing or damaged.
    """
    missing = _missing_packages()
    if missing:
        raise DependencyError(f"{missing[0]}: not installed; run: pip install 'statgraph[onnx]'")
    if not (folder / MODULES).is_file():
        raise ModelError(f"{folder}: no query encoder ({MODULES} is missing); train the run again")
    outline = encoder_outline(folder)
    if outline is not None and outline.kind == "StaticEmbedding":
        raise ModelError(f"{folder}: a static encoder, which is quick without a graph; search it as it is")
    if outline is None or not BertQueryEncoder.knows(outline):
        raise ModelError(f"{folder}: holds no plain BERT, and nothing else is written as a graph; search it as it is")
    with replaced_file(folder / QUERY_GRAPHS[precision]) as staging:
        ranges = input_ranges(outline, folder, [*_PROBES, *texts], scratch=staging) if precision == "int8" else None
        staging.write_bytes(fused_bert(outline, folder, ranges).SerializeToString())
        fused = FusedQueryEncoder(outline, folder, precision, graph=staging)
        difference = _largest_difference(fused, _torch_encoder(outline))
        if not difference <= TOLERANCES[precision]:
            raise ModelError(
                f"{folder}: in ONNX Runtime its vectors differ by {difference:.1e} from torch's, more than "
                f"{TOLERANCES[precision]:.0e}; {QUERY_GRAPHS[precision]} is left out"
                f"{', and torch encodes the questions' if precision == 'float32' else '; search in float32'}"
            )
    return difference


def add_query_graph(folder: Path) -> None:
    """Write `query.onnx` as `write_query_graph` does where the encoder is a plain BERT and the packages are there; else
    leave it out, and say so in one line of the log where the vectors differ."""
    outline = None if _missing_packages() else encoder_outline(folder)
    if outline is None or not BertQueryEncoder.knows(outline):
        return
    try:
        write_query_graph(folder)
    except ModelError as error:
        logging.getLogger(__name__).warning(str(error))


def _missing_packages() -> list[str]:
    return [package for package in _PACKAGES if find_spec(package) is None]


def _torch_encoder(outline) -> BertQueryEncoder:
    import torch

    return BertQueryEncoder(outline, torch.float32)


def _largest_difference(fused: FusedQueryEncoder, plain: BertQueryEncoder) -> float:
    """Return the largest difference of a component, with the longest of torch's vectors taken as 1."""
    expected = plain.encode(_PROBES)  # (probes, width)
    alone, padded = (fused.encode(_PROBES, most_padding=share) for share in (0.0, 1.0))
    longest = max(float(np.linalg.norm(expected, axis=1).max()), np.finfo(np.float32).tiny)
    return max(float(np.abs(vectors - expected).max()) for vectors in (alone, padded)) / longest
