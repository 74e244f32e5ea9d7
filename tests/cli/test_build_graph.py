import json

import pytest


def test_the_summary_of_the_sample(run_here, tmp_path):
    done = run_here("build-graph")

    assert (done.returncode, done.stderr) == (0, "")
    first, *lines = done.stdout.splitlines()
    assert first.startswith("Built the graph of valmere in ")
    assert first.endswith(" s: graphs/valmere")
    assert [line.split()[0] for line in lines] == ["nodes", *["edges"] * 6, "depth", "cited", "orphans"]
    assert sorted(path.name for path in (tmp_path / "graphs" / "valmere").iterdir()) == [
        "graph.dgl", "manifest.json", "nodes.json",
    ]  # fmt: skip


def test_counts_by_hand(run_here, town, tmp_path):
    done = run_here("build-graph", town, "--out", "g", "--relations", "tree, bipartite,order")

    # One code over two books of eight articles each; eight training questions with one article each.
    assert done.stdout.splitlines()[1:] == [
        "  nodes   16 articles, 3 headings, 8 questions",
        "  edges           8  article-cited_by-question",
        "  edges          14  article-follows-article",
        "  edges          16  article-in_heading-heading",
        "  edges          14  article-precedes-article",
        "  edges          16  heading-contains_article-article",
        "  edges           2  heading-contains_heading-heading",
        "  edges           2  heading-under_heading-heading",
        "  edges           8  question-cites-article",
        "  depth   1: 1, 2: 2",
        "  cited   8 articles, by training questions",
        "  orphans 0 articles without edges",
    ]
    assert json.loads((tmp_path / "g" / "manifest.json").read_text())["relations"] == ["tree", "bipartite", "order"]

    again = run_here("build-graph", town, "--out", "g", "--relations", "none")
    assert again.stdout.splitlines()[1:] == [
        "  nodes   16 articles, 3 headings, 8 questions",
        "  depth   1: 1, 2: 2",
        "  cited   0 articles, by training questions",
        "  orphans 16 articles without edges",
    ]


def test_a_corpus_name_with_a_slash_stays_under_graphs(run_here, town, tmp_path):
    run_here("import", "beir", town, "--out", "corpus", "--name", "../town/2")
    assert ": graphs/town-2\n" in run_here("build-graph", "corpus").stdout
    assert (tmp_path / "graphs" / "town-2" / "graph.dgl").is_file()


def test_an_unknown_relation_is_refused(refused, tmp_path):
    assert refused("build-graph", "--relations", "tree,cites", code=2) == (
        "graph.relations: must be none or some of tree, bipartite, order, citations, citing (got 'cites'). "
        "Relation groups of the graph."
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("existing", "message"),
    [
        (
            "notes.txt",
            "mine: contains 'notes.txt', which is not part of a graph; choose a folder that does not exist yet",
        ),
        (
            "manifest.json",
            "mine: has no graph.dgl, so it is not a graph folder; choose a folder that does not exist yet",
        ),
        (None, "mine: is a file; choose a folder that does not exist yet"),
    ],
)
def test_what_is_no_graph_is_never_replaced(refused, town, tmp_path, existing, message):
    mine = tmp_path / "mine"
    if existing:
        mine.mkdir()
    kept = mine / existing if existing else mine
    kept.write_text("mine")

    assert refused("build-graph", town, "--out", "mine") == message
    assert kept.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
