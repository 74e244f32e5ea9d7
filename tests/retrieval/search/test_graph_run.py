import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from statgraph import Retriever
from statgraph.errors import RunError
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.graph_run import GraphExplainer, enriched_article_vectors, load_graph_run
from statgraph.runs.run import RunFolder


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("encoder.similarity=euclidean", "gnn.layer=gcn"),
        ("graph.relations=tree,bipartite,order", "gnn.layers=3"),
        ("graph.relations=none",),
        ("stage2.joint=false", "stage2.train_encoders=both", "stage2.headings=1"),
        ("stage2.train_encoders=none",),
    ],
)
def test_the_kept_inputs_give_the_vectors_of_the_index_again(train_town, settings):
    folder = train_town("qabisar", *settings)
    vectors = ArticleIndex.load(folder / "index", device="cpu").vectors
    np.testing.assert_allclose(enriched_article_vectors(load_graph_run(RunFolder.read(folder))), vectors, atol=1e-6)


def test_the_graph_is_that_of_the_corpus(train_town, town_corpus):
    run = load_graph_run(RunFolder.read(train_town("qabisar")))
    assert run.graph.article_ids == tuple(article.article_id for article in town_corpus.articles)
    assert run.graph.question_ids == tuple(question.question_id for question in town_corpus.split("train"))
    assert run.graph.corpus_hash == town_corpus.content_hash
    assert run.inputs.questions == town_corpus.split("train")
    assert not run.encoder.training


def test_a_run_without_a_graph_is_refused(train_town):
    folder = train_town("dsr", "stage2.epochs=0")
    with pytest.raises(RunError, match=r"without a graph \(system 'dsr'\)"):
        load_graph_run(RunFolder.read(folder))


def test_a_graph_that_does_not_fit_its_inputs_is_refused(train_town, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(train_town("qabisar", "seed=2"), folder)
    lines = (folder / "graph_inputs" / "questions.jsonl").read_text().splitlines(keepends=True)
    (folder / "graph_inputs" / "questions.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(RunError, match="8 vectors of type question for 7 nodes; train the run again"):
        load_graph_run(RunFolder.read(folder))
    (folder / "graph_inputs" / "questions.jsonl").write_text('["q", "?", ["gone1"]]\n')
    with pytest.raises(RunError, match="its training questions cite article 'gone1', which it does not hold"):
        load_graph_run(RunFolder.read(folder))


@pytest.mark.parametrize(
    "settings",
    [
        ("gnn.layer=gatv2", "gnn.layers=3", "graph.relations=tree,bipartite,order"),
        ("gnn.layer=gat", "gnn.layers=1", "encoder.similarity=euclidean"),
        ("gnn.layer=gcn",),
        ("gnn.layer=graphsage", "encoder.similarity=dot"),
    ],
)
def test_the_score_is_that_of_the_index_whatever_the_layer(train_town, settings):
    folder = train_town("qabisar", *settings)
    retriever = Retriever.load(folder, device="cpu")
    hits = retriever.search("May I keep my dogs?", k=16)
    explanations = retriever.explain("May I keep my dogs?", hits)
    assert [why.article_id for why in explanations] == [hit.article_id for hit in hits]
    assert [why.score for why in explanations] == pytest.approx([hit.score for hit in hits], abs=1e-5)


def test_siblings_in_order_are_neighbours_by_the_name_of_the_edge(train_town):
    folder = train_town("qabisar", "gnn.layer=gatv2", "gnn.layers=1", "graph.relations=tree,order")
    explainer = GraphExplainer(RunFolder.read(folder))
    query = Retriever.load(folder, device="cpu")._ranker.encoder.encode(["dogs?"])[0]
    (part,) = explainer.explain(query, [explainer.article_ids.index("dogs1")])
    assert {(near.node_id, near.relation) for near in part.neighbours if near.kind == "article"} == {
        ("dogs1", "itself"), ("wells1", "precedes"), ("carts1", "follows"),
    }  # fmt: skip
    assert part.without_questions_score is None


def test_references_are_neighbours_both_ways(train_town, referring_town):
    settings = ("gnn.layer=gatv2", "gnn.layers=1", "graph.relations=citations")
    folder = train_town("qabisar", *settings, corpus=referring_town)
    vectors = ArticleIndex.load(folder / "index", device="cpu").vectors
    np.testing.assert_allclose(enriched_article_vectors(load_graph_run(RunFolder.read(folder))), vectors, atol=1e-6)
    explainer = GraphExplainer(RunFolder.read(folder))
    (part,) = explainer.explain(vectors[0], [explainer.article_ids.index("dogs1")])
    assert sorted((near.node_id, near.relation) for near in part.neighbours) == [
        ("carts1", "refers_to"), ("carts2", "refers_to"), ("dogs1", "itself"), ("wells1", "referred_to_by"),
    ]  # fmt: skip


def test_a_citing_text_is_a_neighbour(train_town, cited_town):
    folder = train_town("qabisar", "gnn.layers=1", "graph.relations=bipartite,citing", corpus=cited_town)
    vectors = ArticleIndex.load(folder / "index", device="cpu").vectors
    np.testing.assert_allclose(enriched_article_vectors(load_graph_run(RunFolder.read(folder))), vectors, atol=1e-6)
    retriever = Retriever.load(folder, device="cpu")
    hits = retriever.search("May I keep my lamps?", k=16)
    for hit, why in zip(hits, retriever.explain("May I keep my lamps?", hits), strict=True):
        assert why.score == pytest.approx(hit.score, abs=1e-5)
        near = [(near.node_id, near.title, near.relation) for near in why.neighbours if near.kind == "citing"]
        cited = {"lamps1": "guide-1", "lamps2": "guide-1", "dogs2": "guide-2"}.get(hit.article_id)
        assert [name for name, _, _ in near] == ([cited] if cited else [])
        if cited == "guide-1":
            assert near == [("guide-1", "Lamps\nLamps may burn all day.", "cites")]


def test_one_thread_at_a_time_explains(train_town, monkeypatch):
    folder = train_town("qabisar", "gnn.layer=gat")
    explainer = GraphExplainer(RunFolder.read(folder))
    query = Retriever.load(folder, device="cpu")._ranker.encoder.encode(["dogs?"])[0]
    expected = explainer.explain(query, [0, 5])
    sample, at_work, most = explainer._sampler.sample, [], []

    def watched(*asked, **options):
        at_work.append(1)
        most.append(len(at_work))
        time.sleep(0.005)
        blocks = sample(*asked, **options)
        at_work.pop()
        return blocks

    monkeypatch.setattr(explainer._sampler, "sample", watched)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: explainer.explain(query, [0, 5]), range(4)))
    assert (max(most), found) == (1, [expected] * 4)


def test_a_layer_without_attention_says_so(train_town):
    folder = train_town("qabisar", "gnn.layer=gcn")
    retriever = Retriever.load(folder, device="cpu")
    (why,) = retriever.explain("dogs?", retriever.search("dogs?", k=1))
    assert why.neighbours == ()
    assert why.note == "graph layer 'gcn' has no attention to show"
    assert why.own_text_score is not None
