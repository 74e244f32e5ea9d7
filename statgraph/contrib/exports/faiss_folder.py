"""The index of a run as a file that FAISS alone reads."""

from __future__ import annotations

import shutil
from pathlib import Path

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.contrib.exports.source_and_target import dense_run, refuse_existing
from statgraph.retrieval.index.article_index import IDS_FILE, ArticleIndex
from statgraph.retrieval.index.vectors import INDEX_FILE

_README = """# An index of {articles:,} articles

`{index}` is a FAISS index of {width} components by inner product (kind {kind}), `{ids}` the article id of each row.
Search it with vectors of the query encoder of the same run (`statgraph export --to sentence-transformers` or `onnx`):

```python
import faiss, json

index = faiss.read_index("{index}")
article_ids = json.load(open("{ids}"))["article_ids"]
scores, rows = index.search(question_vectors, 10)  # (questions, {width}) float32
```

Corpus: {corpus}, content hash {hash}.
{note}"""
_CODES = "\nIts scores are estimates from short codes; in the run the best of them are ranked again by the vectors.\n"


def export_faiss(run: Path, out: Path) -> str:
    """Write a run's index as `index.faiss`, with `ids.json` and a README; return the kind of index that was written.

    It is the run's own file where plain query vectors can search it, else a flat index of the same vectors: approximate
    kinds may store vectors with extra components.

    Raises:
        RunError: if it is not a finished run with vectors, or is damaged.
        UsageError: if `out` exists.
    """
    import faiss

    refuse_existing(out)
    opened = dense_run(run)
    index = ArticleIndex.load(opened.index, device="cpu")
    with artifacts.replaced_folder(out) as folder:
        shutil.copyfile(opened.index / INDEX_FILE, folder / INDEX_FILE)
        kind = index.kind
        if faiss.read_index(str(folder / INDEX_FILE)).d != index.width:
            flat = index.rebuilt(IndexConfig(kind="flat"))
            flat.save(folder / "flat")
            kind = flat.kind
            (folder / "flat" / INDEX_FILE).replace(folder / INDEX_FILE)
            shutil.rmtree(folder / "flat")
        artifacts.write_json(folder / IDS_FILE, {"article_ids": list(index.article_ids)})
        readme = _README.format(
            articles=len(index),
            index=INDEX_FILE,
            ids=IDS_FILE,
            width=index.width,
            kind=kind,
            corpus=opened.corpus.name,
            hash=opened.corpus.content_hash,
            note=_CODES if kind == "ivf-pq" else "",
        )
        (folder / artifacts.MODEL_CARD).write_text(readme, encoding="utf-8")
    return kind
