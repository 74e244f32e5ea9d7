import json

import numpy as np

from statgraph.contrib.exports.encoder_folder import export_encoder_folder


def test_encoder_and_articles_answer_without_statgraph(dense_run, tmp_path):
    """What the README says to do."""
    from sentence_transformers import SentenceTransformer

    out = tmp_path / "out"
    export_encoder_folder(dense_run, out)
    question = SentenceTransformer(str(out), device="cpu").encode("keys", show_progress_bar=False)
    vectors = np.load(out / "articles" / "vectors.npy", allow_pickle=False)
    scores = vectors @ question
    assert (vectors.dtype, vectors.shape) == (np.float32, (3, 2))
    np.testing.assert_allclose(scores, [0.5, 0.5, 0.7], atol=1e-6)
    ids = json.loads((out / "articles" / "ids.json").read_text())["article_ids"]
    assert ids[int(scores.argmax())] == "K1"
    readme = (out / "README.md").read_text()
    assert readme.startswith("---\nlanguage:\n- en\n")
    assert "## The articles\n\n`articles/vectors.npy` holds" in readme
    assert not (dense_run / "query_encoder" / "README.md").exists()
