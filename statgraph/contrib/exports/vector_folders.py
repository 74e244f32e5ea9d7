"""The vectors of a run for other tools: a sentence-transformers folder, or an index that FAISS alone reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.retrieval.index.article_index import IDS_FILE, ArticleIndex
from statgraph.retrieval.index.vectors import INDEX_FILE
from statgraph.runs import parts
from statgraph.runs.run import RunFolder
from statgraph.systems.model_card import model_card, read_run_report

ARTICLES, VECTORS = "articles", "vectors.npy"
_ARTICLES_SECTION = f"""
## The articles

`{ARTICLES}/{VECTORS}` holds the vectors of the articles, (articles, width) float32, and `{ARTICLES}/{IDS_FILE}` the id
of each row (`article_ids`). An article's score is the inner product of its vector with the question's:

```python
import json
import numpy as np
from sentence_transformers import SentenceTransformer

folder = "path/of/this/folder"
question = SentenceTransformer(folder).encode("Who gets the deposit back?")
vectors = np.load(f"{{folder}}/{ARTICLES}/{VECTORS}")
article_ids = json.load(open(f"{{folder}}/{ARTICLES}/{IDS_FILE}"))["article_ids"]
best = np.argsort(-(vectors @ question))[:10]
print([article_ids[row] for row in best])
```

The vectors of a run with a graph also hold what the graph encoder made of the articles' surroundings: the encoder in
this folder encodes questions, not articles.
"""
_INDEX_README = """# An index of {articles:,} articles

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


def write_encoder_and_articles(run: RunFolder, folder: Path) -> str:
    """Write a run's query encoder, its model card, and `articles/` with the vectors and ids of the articles."""
    index = ArticleIndex.load(run.index, device="cpu")
    shutil.copytree(run.query_encoder, folder, dirs_exist_ok=True)
    (folder / ARTICLES).mkdir()
    np.save(folder / ARTICLES / VECTORS, index.vectors, allow_pickle=False)
    artifacts.write_json(folder / ARTICLES / IDS_FILE, {"article_ids": list(index.article_ids)})
    card = model_card(run, read_run_report(run.folder), part=parts.QUERY_ENCODER.name)
    (folder / artifacts.MODEL_CARD).write_text(card + _ARTICLES_SECTION, encoding="utf-8")
    return f"the query encoder and article vectors of {run.folder}"


def write_faiss_index(run: RunFolder, folder: Path) -> str:
    """Write a run's index as `index.faiss`, with `ids.json` and a README.

    It is the run's own file where plain query vectors can search it, else a flat index of the same vectors: approximate
    kinds may store vectors with extra components.
    """
    import faiss

    index = ArticleIndex.load(run.index, device="cpu")
    shutil.copyfile(run.index / INDEX_FILE, folder / INDEX_FILE)
    kind = index.kind
    if faiss.read_index(str(folder / INDEX_FILE)).d != index.width:
        flat, kind = faiss.IndexFlatIP(index.width), "flat"
        flat.add(np.asarray(index.vectors, dtype=np.float32))
        faiss.write_index(flat, str(folder / INDEX_FILE))
    artifacts.write_json(folder / IDS_FILE, {"article_ids": list(index.article_ids)})
    readme = _INDEX_README.format(
        articles=len(index),
        index=INDEX_FILE,
        ids=IDS_FILE,
        width=index.width,
        kind=kind,
        corpus=run.corpus.name,
        hash=run.corpus.content_hash,
        note=_CODES if kind == "ivf-pq" else "",
    )
    (folder / artifacts.MODEL_CARD).write_text(readme, encoding="utf-8")
    return f"the index of {run.folder} ({kind})"
