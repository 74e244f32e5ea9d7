import pytest

from statgraph.errors import ModelError
from statgraph.inference.onnx_query import QUERY_GRAPHS, add_query_graph
from statgraph_exports import query_graph
from statgraph_exports.query_graph import write_query_graph

pytest.importorskip("onnxruntime")


def test_other_vectors_are_refused_and_a_previous_graph_stays(save_bert, monkeypatch, caplog):
    folder = save_bert("mean")
    (folder / QUERY_GRAPHS["float32"]).write_bytes(b"before")
    files, optimized = sorted(folder.rglob("*")), query_graph._optimized

    def without_attention(exported):
        model = optimized(exported)
        for tensor in model.graph.initializer:
            if "qkv_weight" in tensor.name:
                tensor.raw_data = bytes(len(tensor.raw_data))
        return model

    monkeypatch.setattr(query_graph, "_optimized", without_attention)
    for precision in QUERY_GRAPHS:
        with pytest.raises(ModelError, match=r"its vectors differ by .* than .*is not written"):
            write_query_graph(folder, precision)
    assert sorted(folder.rglob("*")) == files
    assert (folder / QUERY_GRAPHS["float32"]).read_bytes() == b"before"
    add_query_graph(folder)
    (line,) = [record.getMessage() for record in caplog.records if record.name == add_query_graph.__module__]
    assert "sentence-transformers encodes the questions" in line
    assert "\n" not in line


def test_a_static_encoder_needs_no_graph(quick_backbone, caplog):
    with pytest.raises(ModelError, match="static encoder"):
        write_query_graph(quick_backbone)
    add_query_graph(quick_backbone)
    assert not caplog.records
    assert not (quick_backbone / QUERY_GRAPHS["float32"]).exists()
