import sys

import networkx
import numpy as np
import pytest


@pytest.fixture(scope="session")
def bm25_run(train_town):
    return train_town("bm25")


@pytest.fixture(scope="session")
def dense_run(train_town):
    return train_town("qabisar")


def test_the_tree_of_the_sample_without_a_run(run_here, tmp_path):
    done = run_here("export", "--to", "beir", "--out", "beir")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "beir: 321 articles and 443 questions of valmere\n"
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


@pytest.mark.parametrize("target", ["sentence-transformers", "onnx", "faiss"])
def test_bm25_has_nothing_of_the_kind(refused, bm25_run, target):
    assert refused("export", "--run", bm25_run, "--to", target, "--out", "out") == (
        f"{bm25_run}: ranks by BM25 and has no vectors or encoders; export a run of another system, "
        "or this one as graphml"
    )


def test_options_that_do_not_fit_are_refused(refused, bm25_run, town, tmp_path):
    out = ("--out", "out")
    assert refused("export", "--to", "faiss", "--corpus", town, *out, code=2) == (
        "--corpus: faiss exports a run; name one with --run"
    )
    assert refused("export", "--to", "faiss", "--split", "test", *out, code=2) == (
        "--split: only for --to beir; omit it"
    )
    assert refused("export", "--to", "beir", "--run", bm25_run, *out, code=2) == (
        "--run: beir uses a run only for its rankings of a split; name the split with --split"
    )
    assert refused("export", "--to", "graphml", "--run", bm25_run, "--corpus", town, *out, code=2) == (
        "--run and --corpus name two different graphs; give only one of them"
    )
    assert refused("export", "--to", "beir", "--corpus", town, "--out", town, code=2) == (
        f"{town}: exists already, and an export replaces nothing; choose another --out"
    )
    assert refused("export", "--to", "parquet", "--run", bm25_run, *out, code=2) == (
        "--run: parquet is a format of corpora; name one with --corpus"
    )
    assert refused("export", "--to", "faiss", code=2) == (
        "--out: missing; name a folder, for graphml a file, that does not exist yet"
    )
    assert refused("export", "--to", "faiss", "court/law", *out, code=2) == "court/law: only for --to hub; omit it"
    assert refused("export", "--to", "faiss", "--public", *out, code=2) == "--public: only for --to hub; omit it"
    name = "hub: name the repository, as in 'statgraph export --to hub OWNER/NAME', in place of --out"
    assert refused("export", "--to", "hub", code=2) == name
    assert refused("export", "--to", "hub", "court/law", *out, code=2) == name
    assert refused("export", "--to", "pdf", *out, code=2).startswith("Invalid value for '--to': 'pdf' is not one of")
    assert not (tmp_path / "out").exists()


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
