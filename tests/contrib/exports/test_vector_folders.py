import json

import numpy as np
import pytest

from statgraph import export
from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.retrieval.index.article_index import ArticleIndex


def test_encoder_and_articles_answer_without_statgraph(dense_run, tmp_path):
    """What the README says to do."""
    from sentence_transformers import SentenceTransformer

    out = tmp_path / "out"
    export(dense_run, "sentence-transformers", out)
    question = SentenceTransformer(str(out), device="cpu").encode("keys", show_progress_bar=False)
    vectors = np.load(out / "articles" / "vectors.npy", allow_pickle=False)
    scores = vectors @ question
    assert (vectors.dtype, vectors.shape) == (np.float32, (3, 2))
    np.testing.assert_allclose(scores, [0.5, 0.5, 0.7], atol=1e-6)
    ids = json.loads((out / "articles" / "ids.json").read_text())["article_ids"]
    assert ids[int(scores.argmax())] == "K1"
    readme = (out / "README.md").read_text()
    assert readme.startswith("---\nlanguage:\n- en\n")
    assert "The query encoder of a retriever" in readme
    assert "\n\n## The articles\n\n`articles/vectors.npy` holds" in readme
    assert not (dense_run / "query_encoder" / "README.md").exists()


def hits(out, question):
    import faiss

    scores, rows = faiss.read_index(str(out / "index.faiss")).search(np.array([question], dtype=np.float32), 2)
    ids = json.loads((out / "ids.json").read_text())["article_ids"]
    return [(ids[row], pytest.approx(score, abs=1e-6)) for row, score in zip(rows[0], scores[0], strict=True)]


def test_faiss_alone_finds_what_the_run_finds(dense_run, tmp_path):
    assert export(dense_run, "faiss", tmp_path / "out").about == f"the index of {dense_run} (flat)"
    assert hits(tmp_path / "out", [1, 0]) == [("D1", 1.0), ("K1", 0.6)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README.md", "ids.json", "index.faiss"]
    assert "2 components by inner product (kind flat)" in (tmp_path / "out" / "README.md").read_text()


def test_an_approximate_index_is_copied_where_questions_fit_it(dense_run, tmp_path):
    """Three articles, and seventeen others that look south."""
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8], *[[0, -1]] * 17], dtype=np.float32)
    ids = ["D1", "N1", "K1", *(f"other {number}" for number in range(17))]
    config = IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(lists=1))
    ArticleIndex.build(vectors, ids, device="cpu", unit_length=False, config=config).save(dense_run / "index")
    assert export(dense_run, "faiss", tmp_path / "out").about.endswith("(ivf-pq)")
    assert (tmp_path / "out" / "index.faiss").read_bytes() == (dense_run / "index" / "index.faiss").read_bytes()
    assert [article_id for article_id, _ in hits(tmp_path / "out", [1, 0])] == ["D1", "K1"]
