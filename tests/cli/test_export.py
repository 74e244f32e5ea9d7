import sys

import networkx
import numpy as np


def test_the_tree_of_the_sample_without_a_run(run_here, ran, tmp_path):
    done = ran("export", "--to", "beir", "--out", "beir")
    assert done == "beir: 321 articles and 443 questions of valmere\n"
    done = run_here("export", "--to", "graphml", "--corpus", "beir", "--out", "law.graphml")
    graph = networkx.read_graphml(tmp_path / "law.graphml")
    nodes, edges = graph.number_of_nodes(), graph.number_of_edges()
    assert done.stdout == f"law.graphml: {nodes:,} nodes and {edges:,} edges\n"
    assert nodes == 321 + 144 + 261


def test_a_run_in_every_format(run_here, dense_run, town, tmp_path):
    for target, out, said in (
        ("sentence-transformers", "encoder", f"encoder: the query encoder and article vectors of {dense_run}\n"),
        ("faiss", "index", f"index: the index of {dense_run} (flat)\n"),
        ("graphml", "law.graphml", "law.graphml: 27 nodes and 26 edges\n"),
    ):
        done = run_here("export", "--run", dense_run, "--to", target, "--out", out)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", said)
    assert np.load(tmp_path / "encoder" / "articles" / "vectors.npy").shape == (16, 16)
    done = run_here("export", "--run", dense_run, "--to", "onnx", "--out", "onnx")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"onnx: the query encoder of {dense_run}; vectors differ from torch's by at most ")
    done = run_here("export", "--run", dense_run, "--to", "beir", "--corpus", town, "--split", "test", "--out", "beir")
    assert done.stdout == f"beir: 16 articles and 16 questions of town, and the rankings of {dense_run} for test\n"
    assert len((tmp_path / "beir" / "runs" / "test.trec").read_text().splitlines()) == 4 * 16


def test_without_pyarrow_tables_are_neither_written_nor_read(refused, town, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    wanting = "pyarrow: not installed; run in statgraph's checkout: pip install '.[parquet]'"
    assert refused("export", "--to", "parquet", "--corpus", town, "--out", "out") == wanting
    assert refused("import", "parquet", town, "--language", "en", "--out", "law") == wanting
    assert list(tmp_path.iterdir()) == []


def test_a_run_goes_to_the_hub_and_is_searched_there(run_here, bm25_run, monkeypatch):
    pushed = []

    def push_run(*told, **options):
        pushed.append((told, options))
        return "hf://court/law@5f3a"

    monkeypatch.setattr("statgraph.contrib.exports.run_copies.push_run", push_run)
    assert run_here("export", "--run", bm25_run, "--to", "hub", "court/law", "--public") == (
        0,
        f"hf://court/law@5f3a: the run {bm25_run}\n",
        "",
    )
    assert pushed == [((bm25_run, "court/law"), {"public": True})]
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(bm25_run))
    assert run_here("search", "dogs", "--run", "hf://court/law", "--json") == (
        run_here("search", "dogs", "--run", bm25_run, "--json")
    )
