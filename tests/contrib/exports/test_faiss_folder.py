import json

import numpy as np

from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.contrib.exports.faiss_folder import export_faiss
from statgraph.retrieval.index.article_index import ArticleIndex


def searched(out, question):
    import faiss

    scores, rows = faiss.read_index(str(out / "index.faiss")).search(np.array([question], dtype=np.float32), 2)
    ids = json.loads((out / "ids.json").read_text())["article_ids"]
    return [(ids[row], round(float(score), 6)) for row, score in zip(rows[0], scores[0], strict=True)]


def test_faiss_alone_finds_what_the_run_finds(dense_run, tmp_path):
    assert export_faiss(dense_run, tmp_path / "out") == "flat"
    assert searched(tmp_path / "out", [1, 0]) == [("D1", 1.0), ("K1", 0.6)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README.md", "ids.json", "index.faiss"]
    assert "2 components by inner product (kind flat)" in (tmp_path / "out" / "README.md").read_text()


def ivf_pq_index(best):
    """Return an ivf-pq index of three articles and seventeen others that look south."""
    vectors = np.array([*best, *[[0, -1, *best[0][2:]]] * 17], dtype=np.float32)
    ids = ["D1", "N1", "K1", *(f"other {number}" for number in range(17))]
    config = IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(lists=1))
    return ArticleIndex.build(vectors, ids, device="cpu", unit_length=False, config=config)


def test_an_approximate_index_is_copied_where_questions_fit_it(dense_run, tmp_path):
    ivf_pq_index([[1, 0], [0, 1], [0.6, 0.8]]).save(dense_run / "index")
    assert export_faiss(dense_run, tmp_path / "out") == "ivf-pq"
    assert (tmp_path / "out" / "index.faiss").read_bytes() == (dense_run / "index" / "index.faiss").read_bytes()
    assert [article_id for article_id, _ in searched(tmp_path / "out", [1, 0])] == ["D1", "K1"]
