"""The graph's part of an explanation, for layers of all kinds."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from statgraph import Retriever
from statgraph.runs.run import Run
from statgraph.search.article_store import ArticleStore
from statgraph.search.neighbours import GraphExplainer
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


@pytest.fixture(scope="module")
def train(tmp_path_factory, town_corpus, quick_settings):
    """Return a function that trains a graph system on the town with settings, and returns its run folder."""

    def trained(*settings):
        config = resolve_config("qabisar", (*quick_settings, "stage1.epochs=1", *settings))
        return train_run(town_corpus, config, tmp_path_factory.mktemp("runs") / "run").folder

    return trained


@pytest.mark.parametrize(
    "settings",
    [
        ("gnn.layer=gatv2", "gnn.layers=3", "graph.relations=tree,bipartite,order"),
        ("gnn.layer=gat", "gnn.layers=1", "encoder.similarity=euclidean"),
        ("gnn.layer=gcn",),
        ("gnn.layer=graphsage", "encoder.similarity=dot"),
    ],
)
def test_the_score_is_that_of_the_index_whatever_the_layer(train, settings):
    folder = train(*settings)
    retriever = Retriever.load(folder, device="cpu")
    hits = retriever.search("May I keep my dogs?", k=16)
    scores = [why.score for why in retriever.explain("May I keep my dogs?", hits)]
    assert scores == pytest.approx([hit.score for hit in hits], abs=1e-5)


def test_siblings_in_order_are_neighbours_by_the_name_of_the_edge(train):
    folder = train("gnn.layer=gatv2", "gnn.layers=1", "graph.relations=tree,order")
    stored = ArticleStore(folder).read_all()
    explainer = GraphExplainer(Run.read(folder), stored)
    query = Retriever.load(folder, device="cpu")._ranker.question_vectors(["dogs?"])[0]
    (part,) = explainer.explain(query, [explainer.article_ids.index("dogs1")])
    assert {(near.node_id, near.relation) for near in part.neighbours if near.kind == "article"} == {
        ("dogs1", "itself"), ("wells1", "precedes"), ("carts1", "follows"),
    }  # fmt: skip
    assert part.without_questions_score is None
    assert explainer.explain(query, []) == []


def test_one_thread_at_a_time_samples(train, monkeypatch):
    folder = train("gnn.layer=gat")
    explainer = GraphExplainer(Run.read(folder), ArticleStore(folder).read_all())
    query = Retriever.load(folder, device="cpu")._ranker.question_vectors(["dogs?"])[0]
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


def test_a_layer_without_attention_says_so(train):
    folder = train("gnn.layer=gcn")
    retriever = Retriever.load(folder, device="cpu")
    (why,) = retriever.explain("dogs?", retriever.search("dogs?", k=1))
    assert why.neighbours == ()
    assert why.note == "graph layer 'gcn' has no attention to show"
    assert why.own_text_score is not None
