import pytest


def test_runs_without_a_bert_are_refused(refused, bm25_run, dense_run, tmp_path):
    pytest.importorskip("onnx")
    assert refused("quicken", "--run", bm25_run) == (
        f"{bm25_run}: ranks by BM25 and has no query encoder; name a run of another system with --run"
    )
    encoder = dense_run / "query_encoder"
    assert refused("quicken", "--run", dense_run) == (
        f"{encoder}: a static encoder, which is quick without a graph; search it as it is"
    )
    assert refused("quicken", "--run", tmp_path / "none").startswith(f"{tmp_path / 'none'}: no such run folder; ")
