import dataclasses
import hashlib

import pytest

from statgraph import artifacts
from statgraph.config import GraphConfig
from statgraph.corpus.records import Article
from statgraph.errors import GraphError
from statgraph.graph.blocks import whole_graph_block
from statgraph.graph.build import build_graph, summary_of
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.relations import NODE_TYPES
from statgraph.graph.store import default_folder, graph_for, read_graph, write_graph

REMEDY = "build it again with 'statgraph build-graph'"
REPLACEABLE = "choose a folder that does not exist yet"


@pytest.fixture
def saved(tmp_path, town):
    """Return the graph folder of the town."""
    write_graph(build_graph(town), tmp_path / "graph")
    return tmp_path / "graph"


def refusal(folder, corpus) -> str:
    with pytest.raises(GraphError) as refused:
        read_graph(folder, corpus)
    return str(refused.value)


def write_refusal(graph, folder) -> str:
    with pytest.raises(GraphError) as refused:
        write_graph(graph, folder)
    return str(refused.value)


def files_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("relations", [("tree", "bipartite"), ("order", "tree"), ("bipartite",), ()], ids="+".join)
def test_what_is_saved_comes_back(tmp_path, town, edges_of, relations):
    graph = build_graph(town, relations)
    write_graph(graph, tmp_path / "graph")
    loaded = read_graph(tmp_path / "graph", town)
    assert dataclasses.replace(loaded, heterograph=None) == dataclasses.replace(graph, heterograph=None)
    assert loaded.edge_types == graph.edge_types
    assert edges_of(loaded) == edges_of(graph)
    assert summary_of(loaded) == summary_of(graph)
    assert [loaded.heterograph.num_nodes(node_type) for node_type in NODE_TYPES] == [6, 5, 3]


def test_edges_come_back_in_their_order(tmp_path, sample):
    graph = build_graph(sample)
    write_graph(graph, tmp_path / "graph")
    before, after = whole_graph_block(graph), whole_graph_block(read_graph(tmp_path / "graph", sample))
    assert before.sources.equal(after.sources)
    assert before.targets.equal(after.targets)
    assert before.edge_types.equal(after.edge_types)


def test_the_folder_says_what_it_holds(saved, town):
    assert files_in(saved) == ["graph.dgl", "manifest.json", "nodes.json"]
    manifest = artifacts.read_json(saved / "manifest.json")
    assert manifest["corpus_hash"] == town.content_hash
    assert manifest["relations"] == ["tree", "bipartite"]
    assert manifest["nodes"] == {"article": 6, "heading": 5, "question": 3}
    assert manifest["edges"]["question-cites-article"] == 4
    assert manifest["versions"]["dgl"] == load_dgl().__version__
    assert manifest["sha256"] == {
        name: hashlib.sha256((saved / name).read_bytes()).hexdigest() for name in ("graph.dgl", "nodes.json")
    }


def test_ids_with_letters_beyond_ascii(tmp_path, town):
    renamed = dataclasses.replace(
        town, articles=(*town.articles, Article("Δ-1 «é»", "Art.", "Text.", ("Code civil", "Titre Iᵉʳ"), 9))
    )
    write_graph(build_graph(renamed), tmp_path / "graph")
    loaded = read_graph(tmp_path / "graph", renamed)
    assert (loaded.article_ids[-1], loaded.headings[-1].path) == ("Δ-1 «é»", ("Code civil", "Titre Iᵉʳ"))


def test_saving_again_replaces_the_graph(saved, town):
    write_graph(build_graph(town, ("tree",)), saved)
    assert read_graph(saved, town).relations == ("tree",)
    assert files_in(saved.parent) == ["graph"]


def test_another_state_of_the_corpus_is_refused(saved, town):
    changed = dataclasses.replace(town, questions=town.questions[1:])
    assert refusal(saved, changed) == (
        f"{saved}: built from another state of the corpus (hash {town.content_hash[:12]}, corpus "
        f"'town' has {changed.content_hash[:12]}); {REMEDY}"
    )


def test_a_missing_folder_is_refused(tmp_path, town):
    assert refusal(tmp_path / "none", town) == (
        f"{tmp_path / 'none'}: no graph folder; build it with 'statgraph build-graph'"
    )


@pytest.mark.parametrize("name", ["graph.dgl", "nodes.json"])
def test_a_missing_file_is_refused(saved, town, name):
    (saved / name).unlink()
    assert refusal(saved, town) == f"{saved / name}: missing; {REMEDY}"


@pytest.mark.parametrize("kept", [0, 8, 200, -100, -1])
def test_a_cut_off_graph_is_refused(saved, town, kept):
    (saved / "graph.dgl").write_bytes((saved / "graph.dgl").read_bytes()[:kept])
    assert refusal(saved, town) == (
        f"{saved / 'graph.dgl'}: damaged, its SHA-256 is not the one in manifest.json; {REMEDY}"
    )


@pytest.mark.parametrize("name", ["graph.dgl", "nodes.json"])
def test_altered_bytes_are_refused(saved, town, name):
    altered = bytearray((saved / name).read_bytes())
    altered[len(altered) // 2] ^= 1
    (saved / name).write_bytes(altered)
    assert refusal(saved, town) == f"{saved / name}: damaged, its SHA-256 is not the one in manifest.json; {REMEDY}"


def test_a_graph_that_this_dgl_cannot_read_is_refused(saved, town):
    (saved / "graph.dgl").write_bytes(b"written by a DGL to come")
    manifest = artifacts.read_json(saved / "manifest.json")
    manifest["sha256"]["graph.dgl"] = hashlib.sha256(b"written by a DGL to come").hexdigest()
    artifacts.write_json(saved / "manifest.json", manifest)
    assert refusal(saved, town) == f"{saved / 'graph.dgl'}: dgl {load_dgl().__version__} cannot read it; {REMEDY}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ("{", "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "TypeError: list indices must be integers or slices, not str"),
        ("{}", "KeyError: 'corpus_hash'"),
        ('{"corpus_hash": null}', "TypeError: corpus_hash is no text"),
        ('{"corpus_hash": "a", "relations": 3}', "TypeError: 'int' object is not iterable"),
        ('{"corpus_hash": "a", "relations": ["tree"]}', "KeyError: 'sha256'"),
        ('{"corpus_hash": "a", "relations": ["tree"], "sha256": {}}', "KeyError: 'graph.dgl'"),
        (
            '{"corpus_hash": "a", "relations": ["forest"]}',
            "UsageError: graph.relations: must be none or some of tree, bipartite, order (got 'forest')",
        ),
    ],
)
def test_a_damaged_manifest_is_refused(saved, town, text, reason):
    (saved / "manifest.json").write_text(text)
    assert refusal(saved, town) == f"{saved / 'manifest.json'}: damaged ({reason}); {REMEDY}"


def test_a_manifest_that_is_no_text_is_refused(saved, town):
    (saved / "manifest.json").write_bytes(b"\xff\xfe{}")
    assert refusal(saved, town).startswith(f"{saved / 'manifest.json'}: damaged (UnicodeDecodeError: ")


def test_a_full_disk_is_one_line_and_leaves_the_old_graph(saved, town, monkeypatch):
    dgl = load_dgl()

    def fill_the_disk(path, _):
        with open(path, "wb") as file:
            file.write(b"half a gra")
        raise dgl.DGLError("Check failed: std::fwrite(ptr, 1, size, fp_) == size\nStack trace:\n  [bt] (0) ...")

    monkeypatch.setattr(dgl, "save_graphs", fill_the_disk)
    assert write_refusal(build_graph(town, ("tree",)), saved) == (
        f"{saved / 'graph.dgl'}: DGL cannot write it; free some space, or write to another disk"
    )
    monkeypatch.undo()
    assert read_graph(saved, town).relations == ("tree", "bipartite")
    assert files_in(saved.parent) == ["graph"]


@pytest.mark.parametrize("failing", ["nodes.json", "manifest.json"])
def test_nothing_half_written_stays(tmp_path, town, monkeypatch, failing):
    write_json = artifacts.write_json

    def fail(path, value):
        if path.name == failing:
            raise OSError("disk full")
        write_json(path, value)

    monkeypatch.setattr(artifacts, "write_json", fail)
    with pytest.raises(OSError, match="disk full"):
        write_graph(build_graph(town), tmp_path / "graph")
    assert files_in(tmp_path) == []


def test_an_empty_folder_is_taken(tmp_path, town):
    (tmp_path / "graph").mkdir()
    write_graph(build_graph(town), tmp_path / "graph")
    assert read_graph(tmp_path / "graph", town).question_ids == ("q0", "q1", "q3")


def test_what_is_no_graph_is_never_overwritten(saved, tmp_path, town):
    graph = build_graph(town)
    (saved / "notes.txt").write_text("mine")
    assert write_refusal(graph, saved) == f"{saved}: holds 'notes.txt', which is no part of a graph; {REPLACEABLE}"
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text("{}")
    assert write_refusal(graph, other) == f"{other}: holds no graph.dgl, so it is no graph; {REPLACEABLE}"
    assert write_refusal(graph, saved / "notes.txt") == f"{saved / 'notes.txt'}: is a file; {REPLACEABLE}"
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
    assert origin.startswith("built, since")
    assert reason[change] in origin


def test_the_default_folder_is_one_folder():
    assert default_folder("a/b").as_posix() == "graphs/a-b"
