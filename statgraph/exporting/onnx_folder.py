"""The query encoder of a run as ONNX, checked against torch before it is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.errors import DependencyError, ModelError
from statgraph.exporting.source_and_target import dense_run, encoder_card, new_folder, refuse_existing
from statgraph.inference.portable_encoder import (
    MODEL_FILE,
    TOKENIZER_FILE,
    PortableQueryEncoder,
    write_portable_encoder,
)
from statgraph.inference.query_encoder import SentenceTransformerEncoder
from statgraph.search.article_store import ArticleStore

TOLERANCE = 1e-4  # of a component, where the longest vector has length 1
N_PROBES = 48
_LONGEST_PROBE = 2000  # characters
_BATCH = 8
_PACKAGES = ("onnx", "onnxruntime")
_LOADING = """Needs the packages `onnxruntime` and `tokenizers`.

```python
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

folder = "path/of/this/folder"
session = onnxruntime.InferenceSession(f"{{folder}}/{model}")
tokens = Tokenizer.from_file(f"{{folder}}/{tokenizer}").encode_batch([{question}])
inputs = {{"input_ids": np.array([text.ids for text in tokens]),
          "attention_mask": np.array([text.attention_mask for text in tokens])}}
vectors = session.run(None, inputs)[0]  # (questions, width) float32
```

{prompt_line} Before this folder was written, {n_probes} texts were encoded with ONNX Runtime and with torch
(sentence-transformers): the largest difference of a component was {difference:.1e}, with the longest vector taken as 1.
More than {tolerance:.0e} is refused."""
_QUESTION = "Who gets the deposit back?"


def export_onnx(run: Path, out: Path) -> float:
    """Write a run's query encoder as `model.onnx`, `tokenizer.json` and a model card that says how to run it; return
    the largest difference to torch that was found.

    Raises:
        RunError: if it is no finished dense run, or damaged.
        UsageError: if `out` is there already.
        ModelError: if the encoder cannot be written as ONNX, or its vectors then differ by more than `TOLERANCE`.
        DependencyError: if onnx or onnxruntime is missing.
    """
    refuse_existing(out)
    opened = dense_run(run)
    _check_extra()
    probes = probe_texts(ArticleStore(run))
    with new_folder(out) as folder:
        prompt = write_portable_encoder(opened.query_encoder, folder)
        theirs = SentenceTransformerEncoder(opened.query_encoder, "cpu")
        difference = largest_difference(PortableQueryEncoder(folder, prompt), theirs, probes)
        if not difference <= TOLERANCE:
            raise ModelError(
                f"{opened.query_encoder}: as ONNX its vectors differ by {difference:.1e} from torch's, and "
                f"{TOLERANCE:.0e} is allowed; export it as sentence-transformers"
            )
        loading = _LOADING.format(
            model=MODEL_FILE,
            tokenizer=TOKENIZER_FILE,
            question=f'{json.dumps(prompt, ensure_ascii=False)} + "{_QUESTION}"' if prompt else f'"{_QUESTION}"',
            prompt_line=f"`{prompt}` stands before each question." if prompt else "Nothing stands before a question.",
            n_probes=len(probes),
            difference=difference,
            tolerance=TOLERANCE,
        )
        card = encoder_card(opened, library="onnx", loading=loading)
        (folder / artifacts.MODEL_CARD).write_text(card, encoding="utf-8")
    return difference


def probe_texts(articles: ArticleStore) -> list[str]:
    """Return what is encoded both ways: titles and starts of articles from all over a run, of all lengths, and the
    empty text."""
    rows = np.unique(np.linspace(0, len(articles) - 1, N_PROBES // 2).astype(int)).tolist()
    stored = articles.read(rows)
    return ["", *(article.title for article in stored), *(article.text[:_LONGEST_PROBE] for article in stored)]


def largest_difference(ours: PortableQueryEncoder, theirs: SentenceTransformerEncoder, texts: Sequence[str]) -> float:
    """Return the largest difference of a component, with the longest of their vectors taken as 1.

    Texts of all lengths go through in one batch, so that what padding changes is seen too.
    """
    expected = theirs.encode(texts)  # (texts, width)
    vectors = np.concatenate([ours.encode(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)])
    if vectors.shape != expected.shape:
        return float("inf")
    longest = max(float(np.linalg.norm(expected, axis=1).max()), np.finfo(np.float32).tiny)
    return float(np.abs(vectors - expected).max()) / longest


def _check_extra() -> None:
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise DependencyError(f"{missing[0]}: not installed; run: pip install 'statgraph[onnx]'")
