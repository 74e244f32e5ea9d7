import dataclasses
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from statgraph.errors import CorpusError
from statgraph.index.article_index import ArticleIndex
from statgraph.lexical.bm25 import BM25
from statgraph.systems.dense import HARD_NEGATIVE_DEPTH, _wrong_answers, train_dense
from statgraph.systems.timing import StepClock
from statgraph.training.metrics_log import MetricsLog
from statgraph.training.pairs import gold_pairs


@pytest.fixture
def train(tmp_path, town_corpus, quick_config):
    """Return a function that trains a system into a new folder and returns (folder, names of the steps)."""

    def trained(system, *settings, corpus=town_corpus):
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
    folder, steps = train("dsr", "stage1.epochs=2", "stage2.epochs=0", "stage1.bm25_negatives=1")
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


def test_hard_negatives_are_wrong_and_always_equally_many(town_corpus):
    gold = gold_pairs(town_corpus)
    bm25 = BM25([article.text for article in town_corpus.articles], language="en")
    for question_row in range(len(gold.texts)):
        wrong = _wrong_answers(bm25, gold, question_row)
        assert wrong.shape == (HARD_NEGATIVE_DEPTH,)
        assert not np.isin(wrong, gold.answers_of(question_row)).any()
