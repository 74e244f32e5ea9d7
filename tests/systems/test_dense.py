import dataclasses
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from statgraph.errors import CorpusError
from statgraph.index.article_index import ArticleIndex
from statgraph.search.article_store import write_article_store
from statgraph.search.evaluating import evaluate_split
from statgraph.search.retriever import Retriever
from statgraph.systems.dense import train_dense
from statgraph.systems.timing import StepClock
from statgraph.training.metrics_log import MetricsLog


@pytest.fixture
def train(tmp_path, town_corpus, quick_config):
    """Return a function that trains a system into a new folder and returns (folder, names of the steps)."""

    def trained(system, *settings, corpus=town_corpus, stage1_cache=None):
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        clock = StepClock()
        train_dense(
            corpus,
            quick_config(system, *settings),
            folder,
            device=torch.device("cpu"),
            log=MetricsLog(folder / "metrics.jsonl"),
            clock=clock,
            resume=False,
            stage1_cache=stage1_cache,
            on_step=lambda what, done, total: None,
            on_training=lambda progress: None,
        )
        return folder, [step["name"] for step in clock.to_list()]

    return trained


def epochs_of(folder) -> list[tuple[str, int]]:
    return [
        (record["stage"], record["epoch"])
        for record in map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    ]


def vectors_of(folder) -> np.ndarray:
    return ArticleIndex.load(folder / "index", device="cpu").vectors


def test_dpr_trains_nothing(train):
    folder, steps = train("dpr", "stage2.epochs=0")
    assert steps == ["encoders", "article inputs", "article vectors", "index and encoders to disk"]
    assert sorted(path.name for path in folder.iterdir()) == ["article_encoder", "index", "query_encoder"]


def test_dsr_trains_the_text_encoders_alone(train):
    folder, steps = train("dsr", "stage1.epochs=2", "stage2.epochs=0", "stage1.negatives=bm25")
    assert steps == ["encoders", "article inputs", "stage 1", "article vectors", "index and encoders to disk"]
    assert epochs_of(folder) == [("stage1", 0), ("stage1", 1), ("stage1", 2)]
    assert not (folder / "graph_encoder.safetensors").exists()


def test_qabisar_trains_the_graph(train, town_corpus):
    folder, steps = train("qabisar", "stage1.epochs=1")
    assert steps == ["encoders", "article inputs", "stage 1", "graph", "stage 2", "index and encoders to disk"]
    assert epochs_of(folder) == [("stage1", 0), ("stage1", 1), ("stage2", 0), ("stage2", 1), ("stage2", 2)]
    assert all(torch.isfinite(tensor).all() for tensor in load_file(folder / "graph_encoder.safetensors").values())
    index = ArticleIndex.load(folder / "index", device="cpu")
    assert index.article_ids == tuple(article.article_id for article in town_corpus.articles)
    np.testing.assert_allclose(np.linalg.norm(index.vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("relations", ["none", "tree", "tree,bipartite,order"])
def test_every_choice_of_relations_trains(train, relations):
    folder, _ = train("qabisar", "stage2.epochs=1", f"graph.relations={relations}")
    assert np.isfinite(vectors_of(folder)).all()


def test_equal_seeds_give_equal_vectors_and_others_not(train):
    first, again, other = (vectors_of(train("qabisar", f"seed={seed}")[0]) for seed in (3, 3, 4))
    np.testing.assert_allclose(first, again, atol=1e-6)
    assert np.abs(first - other).max() > 1e-4


@pytest.mark.parametrize("system", ["dsr", "qabisar"])
def test_training_without_training_questions_is_refused(train, town_corpus, system):
    silent = dataclasses.replace(town_corpus, questions=town_corpus.split("test"))
    with pytest.raises(CorpusError) as refused:
        train(system, "stage1.epochs=1", corpus=silent)
    assert str(refused.value) == (
        "town: has no training questions; add some to qrels/train.tsv, or use --system dpr or bm25"
    )


def test_dpr_needs_no_questions_at_all(train, town_corpus):
    folder, _ = train("dpr", "stage2.epochs=0", corpus=dataclasses.replace(town_corpus, questions=()))
    assert vectors_of(folder).shape == (16, 16)


def test_runs_share_a_first_stage(train, tmp_path_factory):
    cache = tmp_path_factory.mktemp("stage1")
    alone, _ = train("qabisar", "stage1.epochs=2")
    first, _ = train("qabisar", "stage1.epochs=2", stage1_cache=cache)
    assert len(list(cache.iterdir())) == 1
    second, _ = train("qabisar", "stage1.epochs=2", stage1_cache=cache)
    assert len([epoch for stage, epoch in epochs_of(second) if stage == "stage1"]) == 1
    assert (vectors_of(first) == vectors_of(alone)).all()
    assert (vectors_of(second) == vectors_of(alone)).all()
    train("qabisar", "stage1.epochs=3", stage1_cache=cache)
    train("qabisar", "stage1.epochs=2", "seed=5", stage1_cache=cache)
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_a_search_ranks_by_the_similarity_of_training(train, town_corpus, quick_config, similarity):
    folder, _ = train("dsr", "stage1.epochs=1", "stage2.epochs=0", f"encoder.similarity={similarity}")
    retriever = Retriever.trained(folder_with_articles(folder, town_corpus), quick_config("dsr"), language="en")
    dev = json.loads((folder / "metrics.jsonl").read_text().splitlines()[0])  # of equal R@200, the first epoch is kept
    report = evaluate_split(retriever, town_corpus, "dev", rng=np.random.default_rng(0))
    assert report.strata["all"].metrics["mAP"].mean == pytest.approx(dev["mAP"], abs=1e-5)


def folder_with_articles(folder, corpus):
    write_article_store(corpus.articles, folder)
    return folder


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        (("stage2.distillation=none",), ["stage2"]),
        (("stage2.distillation=both",), ["stage2"]),
        (("stage2.distillation=feature", "stage2.joint=false"), ["stage2", "distillation"]),
        (("stage2.distillation=score", "stage2.joint=false", "stage2.train_encoders=none"), ["stage2", "distillation"]),
    ],
)
def test_ways_to_distil(train, settings, stages):
    folder, _ = train("qabisar", "stage1.epochs=0", "stage2.epochs=1", *settings)
    assert list(dict.fromkeys(stage for stage, _ in epochs_of(folder))) == stages


@pytest.mark.parametrize("system", ["dsr-flat", "dsr-augmented", "gdsr", "cusines-dsr", "cusines-gdsr"])
def test_systems_of_the_papers_train(train, system):
    folder, _ = train(system, "stage1.epochs=2", "gnn.layers=2")
    assert np.isfinite(vectors_of(folder)).all()


def test_gdsr_leaves_the_text_encoders_as_stage_1_left_them(train):
    plain, _ = train("dsr", "stage1.epochs=1", "stage2.epochs=0")
    graph, _ = train("gdsr", "stage1.epochs=1", "stage2.epochs=2")
    weights = [load_file(folder / "article_encoder" / "model.safetensors") for folder in (plain, graph)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert np.abs(vectors_of(plain) - vectors_of(graph)).max() > 1e-3
