import shutil

import pytest

from statgraph import quicken
from statgraph.config import EnsembleConfig, RunConfig
from statgraph.encoders.inference import query_graph
from statgraph.encoders.inference.onnx_query import QUERY_GRAPH
from statgraph.encoders.inference.query_graph import add_query_graph, write_query_graph
from statgraph.errors import ModelError
from statgraph.runs import parts

pytest.importorskip("onnxruntime")


def test_other_vectors_are_refused_and_a_previous_graph_stays(save_bert, monkeypatch, caplog):
    folder = save_bert("mean")
    (folder / QUERY_GRAPH).write_bytes(b"before")
    files, optimized = sorted(folder.rglob("*")), query_graph._optimized

    def without_attention(exported):
        model = optimized(exported)
        for tensor in model.graph.initializer:
            if "qkv_weight" in tensor.name:
                tensor.raw_data = bytes(len(tensor.raw_data))
        return model

    monkeypatch.setattr(query_graph, "_optimized", without_attention)
    with pytest.raises(ModelError, match=r"its vectors differ by .* than .*is not written"):
        write_query_graph(folder)
    assert sorted(folder.rglob("*")) == files
    assert (folder / QUERY_GRAPH).read_bytes() == b"before"
    add_query_graph(folder)
    (line,) = [record.getMessage() for record in caplog.records if record.name == add_query_graph.__module__]
    assert "sentence-transformers encodes the questions" in line
    assert "\n" not in line


def test_a_static_encoder_needs_no_graph(quick_backbone, caplog):
    with pytest.raises(ModelError, match="static encoder"):
        write_query_graph(quick_backbone)
    add_query_graph(quick_backbone)
    assert not caplog.records
    assert not (quick_backbone / QUERY_GRAPH).exists()


def test_every_transformer_among_the_members_of_an_ensemble_gets_one(write_run, corpus, dense_run, save_bert, tmp_path):
    members = ("static@a", "transformer@b")
    config = RunConfig(system="ensemble", retriever="ensemble", ensemble=EnsembleConfig(members=members))
    run = write_run(tmp_path / "ensemble", corpus, config)
    static, transformer = (run / "members" / name for name in ("static-a", "transformer-b"))
    for folder in (static, transformer):
        shutil.copytree(dense_run, folder)
    encoder = transformer / parts.QUERY_ENCODER.name
    shutil.rmtree(encoder)
    shutil.move(save_bert("mean"), encoder)
    done = quicken(run)
    assert done.paths == (encoder / QUERY_GRAPH,)
    assert done.paths[0].is_file()
    assert done.difference <= query_graph.TOLERANCE
    shutil.rmtree(transformer)
    shutil.copytree(static, transformer)
    with pytest.raises(ModelError, match="members/static-a/query_encoder: a static encoder"):
        quicken(run)
