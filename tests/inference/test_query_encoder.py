import subprocess
import sys

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

from statgraph.errors import DependencyError, UsageError
from statgraph.inference import fused_query, query_encoder
from statgraph.inference.fused_export import write_query_graph
from statgraph.inference.query_encoder import load_query_encoder

QUESTIONS = ["the tenant pays rent", "work"]


@pytest.fixture
def bert(tiny_folder, tmp_path):
    modules = [Transformer(str(tiny_folder)), Pooling(32, pooling_mode="mean"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "bert"), create_model_card=False)
    return tmp_path / "bert"


@pytest.fixture
def other(tiny_folder, tmp_path):
    """Return an encoder that pools as ours do not."""
    modules = [Transformer(str(tiny_folder)), Pooling(32, pooling_mode="max")]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "other"), create_model_card=False)
    return tmp_path / "other"


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_each_folder_has_its_reader(bert, other, quick_backbone, monkeypatch, device):
    monkeypatch.setattr(query_encoder, "surely_cpu", lambda name: True)
    kinds = [type(load_query_encoder(folder, device=device)).__name__ for folder in (bert, quick_backbone, other)]
    assert kinds == ["BertQueryEncoder", "StaticQueryEncoder", "SentenceTransformerEncoder"]


def test_on_a_gpu_sentence_transformers_computes(bert, monkeypatch):
    class Picked:
        type = "cuda"

        def __str__(self):
            return "cpu"  # what there is here to load it to

    monkeypatch.setattr(query_encoder, "surely_cpu", lambda name: False)
    monkeypatch.setattr(query_encoder, "pick_device", lambda name: Picked())
    assert type(load_query_encoder(bert)).__name__ == "SentenceTransformerEncoder"


def test_all_readers_give_the_same_vectors(bert, other, quick_backbone):
    for folder in (bert, other, quick_backbone):
        vectors = load_query_encoder(folder, device="cpu").encode(QUESTIONS)
        theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(QUESTIONS)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, theirs, rtol=0, atol=1e-6)


def test_a_graph_beside_a_bert_is_for_float32_where_onnxruntime_is(bert, monkeypatch):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    before = load_query_encoder(bert, device="cpu").encode(QUESTIONS)
    write_query_graph(bert)
    kinds = [type(load_query_encoder(bert, device="cpu", precision=name)).__name__ for name in ("float32", "bfloat16")]
    assert kinds == ["FusedQueryEncoder", "BertQueryEncoder"]
    np.testing.assert_allclose(load_query_encoder(bert, device="cpu").encode(QUESTIONS), before, rtol=0, atol=1e-6)
    monkeypatch.setattr(fused_query, "find_spec", lambda name: None)
    assert type(load_query_encoder(bert, device="cpu")).__name__ == "BertQueryEncoder"


def test_bfloat16_is_for_layers_of_ours(bert, other, quick_backbone):
    exact, near = (
        load_query_encoder(bert, device="cpu", precision=p).encode(QUESTIONS) for p in ("float32", "bfloat16")
    )
    assert 0 < abs(exact - near).max() < 0.02
    assert type(load_query_encoder(quick_backbone, device="cpu", precision="bfloat16")).__name__ == "StaticQueryEncoder"
    with pytest.raises(UsageError) as refused:
        load_query_encoder(other, device="cpu", precision="bfloat16")
    assert str(refused.value) == (
        f"precision 'bfloat16' is for a BERT or static query encoder on the CPU, and {other} on device 'cpu' is none; "
        "use float32"
    )


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_a_gpu_without_the_precision_is_told_of_the_cpu(bert, monkeypatch, precision):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(query_encoder, "surely_cpu", lambda device: False)
    with pytest.raises(UsageError) as refused:
        load_query_encoder(bert, device="auto", precision=precision)
    assert str(refused.value) == (
        f"precision '{precision}' is for a BERT or static query encoder on the CPU, and {bert} on device 'auto' is "
        "none; use --device cpu, or float32"
    )


def test_int8_needs_its_graph(bert, quick_backbone, monkeypatch):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    write_query_graph(bert)  # of float32
    with pytest.raises(UsageError) as refused:
        load_query_encoder(bert, device="cpu", precision="int8")
    assert str(refused.value) == (
        f"{bert}: no query.int8.onnx; write it with `statgraph quicken --precision int8`, or use float32"
    )
    assert type(load_query_encoder(quick_backbone, device="cpu", precision="int8")).__name__ == "StaticQueryEncoder"
    write_query_graph(bert, "int8")
    exact, near = (load_query_encoder(bert, device="cpu", precision=p) for p in ("float32", "int8"))
    assert type(near).__name__ == "FusedQueryEncoder"
    assert 1e-5 < abs(exact.encode(QUESTIONS) - near.encode(QUESTIONS)).max() < 0.02
    for module in (fused_query, query_encoder):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(DependencyError, match=r"^onnxruntime: not installed; run: pip install 'statgraph\[onnx\]'$"):
        load_query_encoder(bert, device="cpu", precision="int8")


def test_an_unknown_precision(bert):
    with pytest.raises(UsageError, match=r"^precision 'int4' is not known; use one of float32, bfloat16, int8$"):
        load_query_encoder(bert, precision="int4")


@pytest.mark.parametrize("with_graph", [False, True])
def test_what_is_not_needed_is_not_imported(bert, quick_backbone, with_graph):
    if with_graph:
        pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
        write_query_graph(bert)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from statgraph.inference.query_encoder import load_query_encoder\n"
        "for folder in sys.argv[1:]:\n"
        "    load_query_encoder(Path(folder), device='cpu').encode(['rent'])\n"
        "    print(*sorted({'onnx', 'torch', 'transformers', 'sentence_transformers', 'scipy'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", code, str(quick_backbone), str(bert)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("\n\n" if with_graph else "\ntorch\n", "")
