import dataclasses
import hashlib

import pytest

from statgraph import artifacts
from statgraph.config import GraphConfig
from statgraph.errors import GraphError
from statgraph.graph.build import build_graph, summary_of
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.store import graph_for, read_graph, write_graph


@pytest.fixture
def saved(tmp_path, town):
    """Return the graph folder of the town."""
    write_graph(build_graph(town), tmp_path / "graph")
    return tmp_path / "graph"


def files_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "relations", [("tree", "bipartite"), ("order", "tree"), ("bipartite",), ("tree", "citing"), ()], ids="+".join
)
def test_what_is_saved_comes_back(tmp_path, town, cited_town, edges_of, relations):
    corpus, counts = (cited_town, [16, 3, 8, 2]) if "citing" in relations else (town, [6, 5, 3])
    graph = build_graph(corpus, relations)
    write_graph(graph, tmp_path / "graph")
    loaded = read_graph(tmp_path / "graph", corpus)
    assert dataclasses.replace(loaded, heterograph=None) == dataclasses.replace(graph, heterograph=None)
    assert loaded.edge_types == graph.edge_types
    assert edges_of(loaded) == edges_of(graph)
    assert summary_of(loaded) == summary_of(graph)
    assert [loaded.heterograph.num_nodes(node_type) for node_type in loaded.node_types] == counts


def refused(folder, corpus, place: str, keyword: str) -> None:
    """Expect a refusal that names the place, says why, and how to build the graph again."""
    with pytest.raises(GraphError, match=f"{place}: .*{keyword}.*; .*'statgraph build-graph'"):
        read_graph(folder, corpus)


def test_another_state_of_the_corpus_is_refused(saved, town):
    changed = dataclasses.replace(town, questions=town.questions[1:])
    refused(saved, changed, "graph", f"{town.content_hash[:12]}.*'town' has {changed.content_hash[:12]}")
    refused(saved.parent / "none", town, "none", "not a graph folder")


@pytest.mark.parametrize("name", ["graph.dgl", "nodes.json"])
@pytest.mark.parametrize("damage", ["gone", "empty", "cut off", "altered"])
def test_missing_and_altered_files_are_refused(saved, town, name, damage):
    content = bytearray((saved / name).read_bytes())
    if damage == "gone":
        (saved / name).unlink()
    elif damage == "altered":
        content[len(content) // 2] ^= 1
        (saved / name).write_bytes(content)
    else:
        (saved / name).write_bytes(b"" if damage == "empty" else content[:-1])
    refused(saved, town, name, "missing" if damage == "gone" else r"damaged \(its SHA-256")


def test_a_graph_that_this_dgl_cannot_read_is_refused(saved, town):
    (saved / "graph.dgl").write_bytes(b"written by a DGL to come")
    manifest = artifacts.read_json(saved / "manifest.json")
    manifest["sha256"]["graph.dgl"] = hashlib.sha256(b"written by a DGL to come").hexdigest()
    artifacts.write_json(saved / "manifest.json", manifest)
    refused(saved, town, "graph.dgl", f"dgl {load_dgl().__version__} cannot read it")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "JSONDecodeError"),
        (b"\xff\xfe{}", "UnicodeDecodeError"),
        (b"[]", "TypeError"),
        (b"{}", "'corpus_hash' is missing"),
        (b'{"corpus_hash": null}', "TypeError: corpus_hash"),
        (b'{"corpus_hash": "a", "relations": 3}', "TypeError"),
        (b'{"corpus_hash": "a", "relations": ["tree"]}', "'sha256' is missing"),
        (b'{"corpus_hash": "a", "relations": ["tree"], "sha256": {}}', "'graph.dgl' is missing"),
        (b'{"corpus_hash": "a", "relations": ["forest"]}', "UsageError: graph.relations: .*'forest'"),
    ],
)
def test_a_damaged_manifest_is_refused(saved, town, text, reason):
    (saved / "manifest.json").write_bytes(text)
    refused(saved, town, "manifest.json", rf"damaged \({reason}")


def test_a_full_disk_is_one_line_and_leaves_the_old_graph(saved, town, monkeypatch):
    dgl = load_dgl()

    def fill_the_disk(path, _):
        with open(path, "wb") as file:
            file.write(b"half a gra")
        raise dgl.DGLError("Check failed: std::fwrite(ptr, 1, size, fp_) == size\nStack trace:\n  [bt] (0) ...")

    monkeypatch.setattr(dgl, "save_graphs", fill_the_disk)
    with pytest.raises(GraphError, match=r"graph\.dgl: DGL cannot write it"):
        write_graph(build_graph(town, ("tree",)), saved)
    monkeypatch.undo()
    assert read_graph(saved, town).relations == ("tree", "bipartite")
    assert files_in(saved.parent) == ["graph"]


def test_an_empty_folder_is_taken_and_no_other_file_overwritten(saved, tmp_path, town):
    graph, empty = build_graph(town), tmp_path / "empty"
    empty.mkdir()
    write_graph(graph, empty)
    assert read_graph(empty, town).question_ids == ("q0", "q1", "q3")
    (saved / "notes.txt").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text("{}")
    for folder, reason in ((saved, "'notes.txt'"), (tmp_path / "other", "no graph.dgl"), (saved / "notes.txt", "file")):
        with pytest.raises(GraphError, match=f"{folder.name}: .*{reason}.*; choose a folder"):
            write_graph(graph, folder)
    assert (saved / "notes.txt").read_text() == "mine"


def test_training_takes_the_graph_that_fits(saved, town, tmp_path):
    built, origin = graph_for(town, GraphConfig().relations, tmp_path / "none")
    assert origin == ""
    read, origin = graph_for(town, GraphConfig().relations, saved)
    assert origin == f"read from {saved}"
    for edge_type in built.edge_types:
        for ours, theirs in zip(
            built.heterograph.edges(etype=edge_type), read.heterograph.edges(etype=edge_type), strict=True
        ):
            assert (ours == theirs).all()


@pytest.mark.parametrize("change", ["corpus", "relations", "damage"])
def test_a_graph_that_does_not_fit_is_built_and_the_reason_told(saved, town, change):
    relations, corpus = GraphConfig().relations, town
    if change == "corpus":
        corpus = dataclasses.replace(town, questions=())
    elif change == "relations":
        relations = ("tree",)
    else:
        (saved / artifacts.GRAPH_FILE).write_bytes(b"")
    graph, origin = graph_for(corpus, relations, saved)
    assert (graph.corpus_hash, graph.relations) == (corpus.content_hash, tuple(relations))
    reason = {
        "corpus": "another state of the corpus",
        "relations": "other relations (tree, bipartite)",
        "damage": "damaged",
    }
    assert origin.startswith("built, because")
    assert reason[change] in origin
