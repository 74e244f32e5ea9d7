"""A run as a sentence-transformers folder, the article vectors beside the encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.contrib.exports.source_and_target import dense_run, encoder_card, refuse_existing
from statgraph.retrieval.index.article_index import ArticleIndex

ARTICLES = "articles"
VECTORS, IDS = "vectors.npy", "ids.json"
_SECTION = f"""## The articles

`{ARTICLES}/{VECTORS}` holds the vectors of the articles, (articles, width) float32, and `{ARTICLES}/{IDS}` the id of
each row (`article_ids`). An article's score is the inner product of its vector with the question's:

```python
import json
import numpy as np
from sentence_transformers import SentenceTransformer

folder = "path/of/this/folder"
question = SentenceTransformer(folder).encode("Who gets the deposit back?")
vectors = np.load(f"{{folder}}/{ARTICLES}/{VECTORS}")
article_ids = json.load(open(f"{{folder}}/{ARTICLES}/{IDS}"))["article_ids"]
best = np.argsort(-(vectors @ question))[:10]
print([article_ids[row] for row in best])
```

The vectors of a run with a graph also hold what the graph encoder made of the articles' surroundings: the encoder in
this folder encodes questions, not articles.
"""


def export_encoder_folder(run: Path, out: Path) -> None:
    """Write a run's query encoder, its model card, and `articles/` with the vectors and ids of the articles.

    Raises:
        RunError: if it is not a finished run with vectors, or is damaged.
        UsageError: if `out` is there already.
    """
    refuse_existing(out)
    opened = dense_run(run)
    index = ArticleIndex.load(opened.index, device="cpu")
    with artifacts.replaced_folder(out) as folder:
        shutil.copytree(opened.query_encoder, folder, dirs_exist_ok=True)
        (folder / ARTICLES).mkdir()
        np.save(folder / ARTICLES / VECTORS, index.vectors, allow_pickle=False)
        artifacts.write_json(folder / ARTICLES / IDS, {"article_ids": list(index.article_ids)})
        (folder / artifacts.MODEL_CARD).write_text(encoder_card(opened, _SECTION), encoding="utf-8")
