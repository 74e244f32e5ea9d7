from dataclasses import replace

import numpy as np
import pytest
import torch

from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_text, heading_texts, text_hashes
from statgraph.encoders.similarity import similarity_of
from statgraph.graph.blocks import whole_graph_block
from statgraph.graph.build import build_graph
from statgraph.graph.gnn.graph_inputs import GraphInputs
from statgraph.law.records import Article
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.graph_run import load_graph_run
from statgraph.runs.run import RunFolder
from statgraph.systems.updating.vectors import (
    carried_out,
    kept_citing,
    kept_questions,
    vector_plan,
)

CPU = torch.device("cpu")


def vectors_anew(run, corpus, folder) -> np.ndarray:
    """Return the index vectors of a corpus by encoding and enriching everything, step by step."""
    encode = load_article_encoder(folder, run.config.encoder, CPU).encode
    questions, citing = kept_questions(run.inputs.questions, corpus), kept_citing(run.inputs.citing, corpus)
    graph = build_graph(replace(corpus, questions=questions, citing=citing), run.graph.relations)
    articles = encode(
        [article_text(article, heading_path=run.config.encoder.heading_path) for article in corpus.articles]
    )
    headings = encode(heading_texts(graph.headings, heading_path=run.config.graph.heading_path))
    others = [run.inputs.vectors[node_type] for node_type in graph.node_types[2:]]
    nodes = torch.from_numpy(np.concatenate([articles, headings, *others]))
    with torch.no_grad():
        enriched = run.encoder(nodes, [whole_graph_block(graph)] * len(run.encoder.layers))
    return similarity_of(run.config.encoder.similarity).index_vectors(enriched[: len(articles)].numpy())


def plan_of(run, corpus):
    return vector_plan(run.inputs, run.graph.article_ids, corpus, run.config, graph_run=run)


def carried(plan, folder) -> tuple:
    """Return what a plan comes to, with its unknown texts encoded by the run in a folder."""
    config = RunFolder.read(folder).config.encoder
    old_vectors = ArticleIndex.load(folder / "index", device="cpu").vectors
    embedded = load_article_encoder(folder, config, CPU).encode(list(plan.unknown.values()))
    return carried_out(plan, old_vectors, embedded, similarity_of(config.similarity))


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("gnn.layers=1", "encoder.heading_path=false"),
        ("graph.heading_path=false", "gnn.residual=false", "gnn.expansion=2", "gnn.start=random"),
        ("gnn.layers=3", "graph.relations=tree,bipartite,order"),
        ("gnn.layer=gcn", "encoder.similarity=euclidean"),
        ("graph.relations=tree", "stage2.train_encoders=none"),
        ("graph.relations=none", "encoder.similarity=dot"),
        ("stage2.joint=false", "stage2.headings=1", "stage2.train_encoders=both"),
    ],
)
def test_what_is_computed_and_what_stays_equal_computing_all_anew(train_town, reformed, settings):
    folder = train_town("qabisar", *settings)
    run = load_graph_run(RunFolder.read(folder))
    plan = plan_of(run, reformed)
    known = heading_texts(run.graph.headings, heading_path=run.config.graph.heading_path)
    assert not set(plan.unknown.values()) & set(known)
    vectors, inputs = carried(plan, folder)
    anew = vectors_anew(run, reformed, folder)
    np.testing.assert_allclose(vectors, anew, atol=2e-6)
    assert np.abs(anew).max() > 0.1
    assert inputs.questions == kept_questions(run.inputs.questions, reformed)
    assert [len(inputs.vectors[kind]) for kind in ("article", "heading", "question")] == [16, 4, 8]


def test_references_of_a_new_version_are_those_of_its_own_texts_and_numbers(train_town, referring_town):
    settings = ("gnn.layers=1", "graph.relations=citations", "encoder.heading_path=false")
    folder = train_town("qabisar", *settings, corpus=referring_town)
    run = load_graph_run(RunFolder.read(folder))
    amended = {"carts1": "Carts are allowed by day. See article 1."}  # no longer article 5
    articles = tuple(
        replace(article, text=amended.get(article.article_id, article.text))
        for article in referring_town.articles
        if article.article_id != "wells1"  # which dogs1 and carts2 name
    )
    new = Article("wheels1", "Art. 17 on wheels", "Wheels are round.", ("Town Code", "Book I. Rights"), 99)
    corpus = replace(referring_town, articles=(*articles, new), questions=referring_town.split("train")[2:])
    plan = plan_of(run, corpus)
    stale = [article.article_id for article, stale in zip(corpus.articles, plan.stale, strict=True) if stale]
    # carts1 for its text, lamps1 and dogs1 for who names them, carts2 and fences2 for whom they name.
    assert stale == ["lamps1", "dogs1", "carts1", "carts2", "fences2", "wheels1"]
    vectors, _ = carried(plan, folder)
    np.testing.assert_allclose(vectors, vectors_anew(run, corpus, folder), atol=2e-6)


def test_citing_texts_stay_those_of_training_and_cite_what_is_left(train_town, cited_town, reformed):
    folder = train_town("qabisar", "graph.relations=tree,citing", corpus=cited_town)
    run = load_graph_run(RunFolder.read(folder))
    left = tuple(article for article in reformed.articles if article.article_id != "lamps2")
    corpus = replace(reformed, articles=left, questions=reformed.split("train"))
    plan = plan_of(run, corpus)
    assert [(text.citing_id, text.article_ids) for text in plan.citing] == [
        ("guide-1", ("lamps1",)),
        ("guide-2", ("dogs2",)),
    ]
    vectors, inputs = carried(plan, folder)
    np.testing.assert_allclose(vectors, vectors_anew(run, corpus, folder), atol=2e-6)
    assert inputs.citing == plan.citing
    assert inputs.vectors["citing"].shape == (2, 16)


def test_only_what_has_no_vector_is_embedded(train_town, reformed):
    folder = train_town("qabisar")
    plan = plan_of(load_graph_run(RunFolder.read(folder)), reformed)
    path = "Town Code > Book III. Wheels"
    assert set(plan.unknown.values()) == {
        "Town Code > Book I. Rights\non dogs\nDogs are taxed by day.",
        f"{path}\non carts\nCarts are taxed.",
        f"{path}\nCarts are allowed.",
        path,
    }


def test_one_layer_reaches_the_article_alone_and_two_its_siblings(train_town, town_corpus):
    def stale(*settings) -> set[str]:
        articles = tuple(
            replace(article, text="Lamps burn.") if article.article_id == "lamps1" else article
            for article in town_corpus.articles
        )
        plan = plan_of(
            load_graph_run(RunFolder.read(train_town("qabisar", *settings))), replace(town_corpus, articles=articles)
        )
        return {article.article_id for article, is_stale in zip(articles, plan.stale, strict=True) if is_stale}

    assert stale("gnn.layers=1", "encoder.heading_path=false") == {"lamps1"}
    assert stale() == {article.article_id for article in town_corpus.articles if article.path[1] == "Book I. Rights"}
    assert len(stale("gnn.layer=gcn", "encoder.similarity=euclidean")) == 16


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_without_a_graph(train_town, town_corpus, reformed, similarity):
    settings = ("stage2.epochs=0", f"encoder.similarity={similarity}")
    folder = train_town("dsr", *settings)
    index = ArticleIndex.load(folder / "index", device="cpu")
    config = RunFolder.read(folder).config
    hashes = text_hashes([article_text(article) for article in town_corpus.articles])
    inputs = GraphInputs({"article": index.vectors}, {"article": hashes}, ())
    plan = vector_plan(inputs, index.article_ids, reformed, config)
    vectors, inputs = carried(plan, folder)
    anew = load_article_encoder(folder, config.encoder, CPU).encode(
        [article_text(article) for article in reformed.articles]
    )
    np.testing.assert_allclose(vectors, similarity_of(similarity).index_vectors(anew), atol=2e-6)
    assert inputs is None
    assert len(plan.unknown) == plan.stale.sum() == 3


def test_citing_texts_keep_citations_or_take_those_of_the_same_text(cited_town):
    before = tuple(text for text in cited_town.citing if text.citing_id.startswith("guide"))
    same, other = replace(before[0], article_ids=("wells1",)), replace(before[1], text="Cats are not.")
    kept = kept_citing(before, replace(cited_town, citing=(same, other)))
    assert [text.article_ids for text in kept] == [("wells1",), ("dogs2",)]
    assert [text.text for text in kept] == [text.text for text in before]
