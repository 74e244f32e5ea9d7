import dataclasses

import networkx

from statgraph import export
from statgraph.config import RunConfig
from statgraph.contrib.exports.graphml_file import law_graph
from statgraph.law.records import Article
from statgraph.runs import parts

EDGES = {
    ("heading:0", "heading:1", "contains_heading"),
    ("heading:1", "heading:2", "contains_heading"),
    ("heading:1", "article:D1", "contains_article"),
    ("heading:2", "article:N1", "contains_article"),
    ("heading:2", "article:K1", "contains_article"),
    ("article:D1", "article:K1", "refers_to"),
    ("article:K1", "article:D1", "refers_to"),
}
CITATIONS = {("question:q1", "article:D1", "cites"), ("question:q1", "article:K1", "cites")}


def edges(graph) -> set[tuple[str, str, str]]:
    return {(source, target, about["relation"]) for source, target, about in graph.edges(data=True)}


def test_networkx_reads_back_the_law_of_a_corpus(corpus, tmp_path):
    assert export(corpus, "graphml", tmp_path / "law.graphml").about == "7 nodes and 9 edges"
    graph = networkx.read_graphml(tmp_path / "law.graphml")
    assert edges(graph) == EDGES | CITATIONS
    assert graph.nodes["heading:2"] == {
        "kind": "heading", "title": "Its end", "depth": 3, "code": "Rent Code",
        "path": "Rent Code > The lease > Its end",
    }  # fmt: skip
    assert graph.nodes["article:D1"] == {
        "kind": "article", "title": "Art. 1", "code": "Rent Code", "path": "Rent Code > The lease",
    }  # fmt: skip
    assert graph.nodes["question:q1"] == {"kind": "question", "title": "who keeps the deposit"}


def test_a_run_has_its_articles_and_with_a_graph_its_questions(corpus, bm25_run, write_run, tmp_path):
    export(bm25_run, "graphml", tmp_path / "plain.graphml")
    assert edges(networkx.read_graphml(tmp_path / "plain.graphml")) == EDGES
    write_run(bm25_run, corpus, RunConfig(system="bm25", retriever="bm25"), n_headings=3)
    (bm25_run / parts.GRAPH_ENCODER).touch()
    assert export(bm25_run, "graphml", tmp_path / "graph.graphml").about == "7 nodes and 9 edges"
    assert edges(networkx.read_graphml(tmp_path / "graph.graphml")) == EDGES | CITATIONS


def test_headings_whose_paths_look_alike_stay_two():
    articles = [Article("a", "Art. 1", "", ("A", "B"), 1), Article("b", "Art. 2", "", ("A > B",), 2)]
    assert [node for node, kind in law_graph(articles, ()).nodes(data="kind") if kind == "heading"] == [
        "heading:0", "heading:1", "heading:2",
    ]  # fmt: skip


def test_what_xml_cannot_hold_is_left_out(corpus, tmp_path):
    articles = (dataclasses.replace(corpus.articles[0], title="Art. 1\x00 \x1f<&\ufffe é"), *corpus.articles[1:])
    export(dataclasses.replace(corpus, articles=articles), "graphml", tmp_path / "law.graphml")
    assert networkx.read_graphml(tmp_path / "law.graphml").nodes["article:D1"]["title"] == "Art. 1 <& é"
