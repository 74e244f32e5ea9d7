import shutil

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.retrieval.search.ranker import DenseRanker
from statgraph.runs import parts
from statgraph.runs.run import RunFolder

HALF = np.sqrt(0.5)


@pytest.fixture
def own_encoder(dense_run, query_encoder):
    """Return the run's encoder folder, a copy that a test may damage."""
    folder = dense_run / parts.QUERY_ENCODER
    folder.unlink()
    shutil.copytree(query_encoder, folder)
    return folder


def refused(run, match):
    with pytest.raises(RunError, match=match) as refusal:
        DenseRanker(RunFolder.read(run), device="cpu")
    assert "\n" not in str(refusal.value)


def test_dense_scores_are_inner_products(dense_run):
    ranker = DenseRanker(RunFolder.read(dense_run), device="cpu")
    rows, scores = zip(*ranker.rank(["deposit", "deposit notice", "notice"], 3), strict=True)
    assert [ranked.tolist() for ranked in rows] == [[0, 2, 1], [0, 1, 2], [1, 0, 2]]
    np.testing.assert_allclose(
        np.stack(scores), [[1, 0.8, 0], [HALF, HALF, 0.2 * HALF], [1, 0, -0.6]], rtol=0, atol=1e-6
    )


def test_a_missing_index_or_encoder_is_refused(dense_run, own_encoder):
    shutil.rmtree(own_encoder)
    refused(dense_run, "query_encoder: no query encoder")
    shutil.rmtree(dense_run / "index")
    refused(dense_run, "index: no such index folder")


@pytest.mark.parametrize("name", ["modules.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_a_damaged_encoder_is_refused(dense_run, own_encoder, name, content):
    assert (own_encoder / name).is_file()
    (own_encoder / name).write_bytes(content)
    refused(dense_run, r"query_encoder: not loadable \(")


def test_another_run_s_encoder_is_refused(dense_run, own_encoder, quick_backbone):
    shutil.rmtree(own_encoder)
    shutil.copytree(quick_backbone, own_encoder)
    with pytest.raises(RunError, match=r"^queries: shape \(1, 16\), but the index holds vectors of width 2; "):
        DenseRanker(RunFolder.read(dense_run), device="cpu").rank(["deposit"], 1)
