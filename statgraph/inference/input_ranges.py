"""How large the inputs of a BERT's linear maps become: measured, by ONNX Runtime, on some texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.errors import ModelError
from statgraph.inference.bert_query import bert_tokenizer
from statgraph.inference.encoder_outline import MODULE_CONFIG, EncoderOutline, json_object
from statgraph.inference.fused_graph import fused_bert_with_inputs
from statgraph.inference.fused_operators import LENGTHS, TOKEN_IDS
from statgraph.inference.fused_query import loaded_graph


def input_ranges(outline: EncoderOutline, root: Path, texts: Sequence[str], *, scratch: Path) -> dict[str, np.ndarray]:
    """Return map -> the largest magnitude of each column of its input over all tokens of the texts, (width,) float32.

    Args:
        outline: an encoder that `BertQueryEncoder` knows.
        root: the query encoder's folder.
        texts: at least one, encoded as questions, each alone.
        scratch: a file in `root` that is written over.

    Raises:
        ModelError, OSError, KeyError, ValueError: as `fused_bert`; ModelError too if a file of weights is cut off or
            an input is not finite.
    """
    model, inputs = fused_bert_with_inputs(outline, root)
    scratch.write_bytes(model.SerializeToString())
    session = loaded_graph(scratch, root, "its weights are damaged: train the run again")
    names = list(dict.fromkeys(inputs.values()))
    tokenizer = bert_tokenizer(outline, json_object(outline.first / MODULE_CONFIG))
    largest: dict[str, np.ndarray] = {}
    for encoding in tokenizer.encode_batch([outline.prompt + text for text in texts]):
        tokens = {TOKEN_IDS: np.array([encoding.ids]), LENGTHS: np.array([len(encoding.ids)], dtype=np.int32)}
        for name, found in zip(names, session.run(names, tokens), strict=True):
            of_text = np.abs(found[0]).max(axis=0)
            largest[name] = np.maximum(largest.get(name, of_text), of_text)
    if not all(np.isfinite(of_map).all() for of_map in largest.values()):
        raise ModelError(f"{root}: its weights hold values that are not finite; train the run again")
    return {of_map: largest[name] for of_map, name in inputs.items()}
