import shutil

import pytest

from statgraph import export
from statgraph.errors import RunError, UsageError


@pytest.mark.parametrize("target", ["sentence-transformers", "onnx", "faiss"])
def test_a_run_without_its_encoder_or_without_any(dense_run, bm25_run, tmp_path, target):
    shutil.rmtree(dense_run / "query_encoder")
    with pytest.raises(RunError, match=r"no query encoder \(modules.json is missing\); train the run again"):
        export(dense_run, target, tmp_path / "out")
    with pytest.raises(RunError, match="ranks by BM25"):
        export(bm25_run, target, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("target", ["folder", "faiss", "graphml"])
def test_what_exists_is_not_replaced(dense_run, tmp_path, target):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for out in (dense_run, tmp_path / "link"):
        with pytest.raises(UsageError, match=f"{out}: exists already"):
            export(dense_run, target, out)


def test_a_format_of_something_else(corpus, dense_run, tmp_path):
    with pytest.raises(UsageError, match="onnx is a format of runs"):
        export(corpus, "onnx", tmp_path / "out")
    with pytest.raises(UsageError, match="beir is a format of corpora"):
        export(dense_run, "beir", tmp_path / "out")
    with pytest.raises(UsageError, match="format 'pdf'"):
        export(corpus, "pdf", tmp_path / "out")
