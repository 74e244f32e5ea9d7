"""The query encoder of a run as ONNX, checked against torch before it is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.encoders.inference.onnx_encoder import ExportedEncoder, exported_encoder, largest_difference
from statgraph.encoders.inference.onnx_query import TOKEN_IDS, TOKEN_MASK
from statgraph.errors import ModelError
from statgraph.runs import parts
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder
from statgraph.systems.model_card import model_card, read_run_report

MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
WEIGHTS_FILE = "model.onnx.data"  # where the weights are more than one ONNX file can hold
MOST_IN_ONE_FILE = 2**31 - 2**24  # bytes of weights; the operators need some room too
TOLERANCE = 1e-4  # of a component, where the longest vector has length 1
N_PROBES = 48
_LONGEST_PROBE = 2000  # characters
_BATCH = 8
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


def write_onnx_folder(run: RunFolder, folder: Path) -> str:
    """Write a run's query encoder as `model.onnx`, `tokenizer.json` and a model card that says how to run it.

    Raises:
        ModelError: if the encoder cannot be written as ONNX, or its vectors then differ by more than `TOLERANCE`.
        DependencyError: if onnx or onnxruntime is missing.
    """
    exported = exported_encoder(run.query_encoder)
    probes = probe_texts(ArticleStore(run.folder))
    write_onnx(exported, run.query_encoder, folder)
    prompt = exported.prompt
    difference = largest_difference(folder_vectors(folder, prompt, probes), exported.source.encode(probes))
    if not difference <= TOLERANCE:
        raise ModelError(
            f"{run.query_encoder}: as ONNX its vectors differ by {difference:.1e} from torch's, and "
            f"{TOLERANCE:.0e} is allowed; export it as sentence-transformers"
        )
    loading = _LOADING.format(
        model=MODEL_FILE,
        tokenizer=TOKENIZER_FILE,
        question=f'{json.dumps(prompt, ensure_ascii=False)} + "{_QUESTION}"' if prompt else f'"{_QUESTION}"',
        prompt_line=f"`{prompt}` precedes each question." if prompt else "Nothing precedes a question.",
        n_probes=len(probes),
        difference=difference,
        tolerance=TOLERANCE,
    )
    report, encoder = read_run_report(run.folder), parts.QUERY_ENCODER.name
    card = model_card(run, report, part=encoder, library="onnx", loading=loading)
    (folder / artifacts.MODEL_CARD).write_text(card, encoding="utf-8")
    return f"the query encoder of {run.folder}; vectors differ from torch's by at most {difference:.1e}"


def write_onnx(exported: ExportedEncoder, encoder: Path, folder: Path) -> None:
    """Write `model.onnx` and `tokenizer.json` of the query encoder in `encoder` to an empty folder.

    The tokenizer pads and truncates as the model needs it: its ids and mask are what the model takes.

    Raises:
        ModelError: if the encoder has no tokenizer.json.
    """
    import onnx
    from tokenizers import Tokenizer

    source = encoder / exported.first_folder / TOKENIZER_FILE
    if not source.is_file():
        raise ModelError(
            f"{encoder}: has no {TOKENIZER_FILE}, which the users of ONNX read; export it as sentence-transformers"
        )
    state = json.loads(source.read_text(encoding="utf-8"))
    # A static encoder has no <s> and </s>.
    tokenizer = Tokenizer.from_str(json.dumps(state | {"post_processor": None} if exported.is_static else state))
    if exported.max_tokens is not None:
        tokenizer.enable_truncation(exported.max_tokens)
    tokenizer.enable_padding(pad_id=exported.pad_id, pad_token=tokenizer.id_to_token(exported.pad_id))
    tokenizer.save(str(folder / TOKENIZER_FILE))
    apart = exported.model.ByteSize() > MOST_IN_ONE_FILE
    path = str(folder / MODEL_FILE)
    onnx.save_model(exported.model, path, save_as_external_data=apart, location=WEIGHTS_FILE)
    onnx.checker.check_model(path)


def folder_vectors(folder: Path, prompt: str, texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of texts, (texts, width) float32, by the encoder of `write_onnx`, run as the card says; a
    batch holds texts of several lengths, to include what padding changes."""
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(folder / MODEL_FILE), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    vectors = []
    for start in range(0, len(texts), _BATCH):
        encodings = tokenizer.encode_batch([prompt + text for text in texts[start : start + _BATCH]])
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        vectors.append(session.run(None, {TOKEN_IDS: ids, TOKEN_MASK: mask})[0])
    return np.concatenate(vectors)


def probe_texts(articles: ArticleStore) -> list[str]:
    """Return what is encoded both ways: titles and starts of articles from all over a run, of all lengths, and the
    empty text."""
    rows = np.unique(np.linspace(0, len(articles) - 1, N_PROBES // 2).astype(int)).tolist()
    stored = articles.read(rows)
    return ["", *(article.title for article in stored), *(article.text[:_LONGEST_PROBE] for article in stored)]
