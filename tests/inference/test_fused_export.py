import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from statgraph.errors import DependencyError, ModelError
from statgraph.inference import byte_codes, coded_operators, fused_export, fused_graph
from statgraph.inference.fused_export import add_query_graph, write_query_graph
from statgraph.inference.fused_query import QUERY_GRAPHS

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
QUERY_GRAPH = QUERY_GRAPHS["float32"]


@pytest.fixture
def folder(save_bert):
    return save_bert("mean")


@pytest.fixture
def wrong_layers(monkeypatch):
    """Let graphs be written without attention and feed-forward."""

    def normalised(graph, hidden, name, *, eps, heads):
        return graph.add("LayerNormalization", hidden, *graph.pair(f"{name}.output.LayerNorm"), axis=-1, epsilon=eps)

    monkeypatch.setattr(fused_graph, "_layer", normalised)


def warnings_of_ours(caplog):
    return [record.getMessage() for record in caplog.records if record.name == fused_export.__name__]


def contents(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_folder_gets_one_small_file_and_loads_as_before(folder):
    before, theirs = contents(folder), SentenceTransformer(str(folder), device="cpu").encode(["rent"])
    assert 0 < write_query_graph(folder) <= 1e-5
    assert contents(folder) == sorted([*before, QUERY_GRAPH])
    assert (folder / QUERY_GRAPH).stat().st_size < 40_000  # the weights have 190,000 bytes
    np.testing.assert_array_equal(SentenceTransformer(str(folder), device="cpu").encode(["rent"]), theirs)


def test_int8_stands_beside_float32_and_holds_the_layers(folder):
    write_query_graph(folder)
    before = contents(folder)
    assert 1e-5 < write_query_graph(folder, "int8", ["the tenant works"]) < 0.02
    assert contents(folder) == sorted([*before, QUERY_GRAPHS["int8"]])
    # 4 * 32 * 32 + 2 * 32 * 64 codes in each of three layers, and what describes them
    assert 3 * (4 * 32 * 32 + 2 * 32 * 64) < (folder / QUERY_GRAPHS["int8"]).stat().st_size < 100_000


def test_int8_far_from_torch_is_refused(folder, monkeypatch):
    monkeypatch.setattr(coded_operators, "row_codes", lambda weight: byte_codes.row_codes(-weight))
    before = contents(folder)
    with pytest.raises(
        ModelError, match=r"differ by .*, more than 3e-02; query.int8.onnx is left out; search in float32$"
    ):
        write_query_graph(folder, "int8")
    assert contents(folder) == before


def test_other_vectors_are_refused_and_what_stood_there_stays(folder, wrong_layers):
    (folder / QUERY_GRAPH).write_bytes(b"before")
    before = contents(folder)
    with pytest.raises(
        ModelError, match=r"in ONNX Runtime its vectors differ by .* from torch's, more than 1e-05; query"
    ):
        write_query_graph(folder)
    assert contents(folder) == before
    assert (folder / QUERY_GRAPH).read_bytes() == b"before"


def test_saving_leaves_out_other_vectors_with_one_line(folder, wrong_layers, caplog):
    add_query_graph(folder)
    assert not (folder / QUERY_GRAPH).exists()
    (line,) = warnings_of_ours(caplog)
    assert line.startswith(f"{folder}: in ONNX Runtime its vectors differ by ")
    assert "\n" not in line


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_without_the_extra(folder, monkeypatch, package, caplog):
    monkeypatch.setattr(fused_export, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(DependencyError) as refused:
        write_query_graph(folder)
    assert str(refused.value) == f"{package}: not installed; run: pip install 'statgraph[onnx]'"
    add_query_graph(folder)
    assert (warnings_of_ours(caplog), (folder / QUERY_GRAPH).exists()) == ([], False)


def test_other_encoders_are_refused_or_passed_over(tiny_folder, quick_backbone, tmp_path, caplog):
    other = tmp_path / "other"
    modules = [Transformer(str(tiny_folder)), Pooling(32, pooling_mode="max")]
    SentenceTransformer(modules=modules, device="cpu").save(str(other), create_model_card=False)
    for folder, why in (
        (other, "holds no plain BERT, and nothing else is written as a graph"),
        (quick_backbone, "a static encoder, which is quick without a graph"),
    ):
        with pytest.raises(ModelError) as refused:
            write_query_graph(folder)
        assert str(refused.value) == f"{folder}: {why}; search it as it is"
        add_query_graph(folder)
        assert (warnings_of_ours(caplog), (folder / QUERY_GRAPH).exists()) == ([], False)
    with pytest.raises(
        ModelError, match=r"nowhere: no query encoder \(modules.json is missing\); train the run again$"
    ):
        write_query_graph(tmp_path / "nowhere")
