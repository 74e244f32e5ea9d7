import numpy as np
import pytest
import torch

from statgraph.config import Stage2Config
from statgraph.encoders.similarity import SIMILARITIES
from statgraph.training.distillation import AfterGraph
from statgraph.training.losses import feature_distillation, score_distillation
from statgraph.training.pairs import gold_pairs
from statgraph.training.stage2 import GraphVectors

CONFIG = Stage2Config(batch_size=4, encoder_lr=0.05, encoder_weight_lr=0.05, temperature=0.1, distillation="both")


@pytest.fixture
def after(village, static_encoders, text_model):
    """Return a function that builds the stage over random teacher vectors: (stage, encoders, teacher, articles)."""

    def build(config=CONFIG):
        encoders = static_encoders()
        generator = torch.Generator().manual_seed(1)
        teacher, articles = torch.randn(4, 8, generator=generator), torch.randn(12, 8, generator=generator)
        gold = gold_pairs(village)
        vectors, questions = GraphVectors(articles, teacher), encoders.question_inputs(gold.texts)
        stage = AfterGraph(text_model(encoders, village), vectors, gold, questions, config)
        return stage, encoders, teacher, articles

    return build


def test_the_loss_by_hand(after, village):
    stage, encoders, teacher, articles = after()
    rows, compared = next(iter(stage.batches(np.random.default_rng(0))))
    texts = gold_pairs(village).texts
    student = encoders.questions(encoders.question_inputs([texts[row] for row in rows]))
    about = {"similarity": SIMILARITIES["cosine"], "temperature": 0.1}
    wanted = sum(
        kind(teacher[rows], student, articles[compared], **about) for kind in (score_distillation, feature_distillation)
    )
    assert stage.loss((rows, compared)).item() == pytest.approx(wanted.item(), rel=1e-5)


def test_an_epoch_holds_every_question_with_its_answers(after):
    stage, *_ = after()
    batches = list(stage.batches(np.random.default_rng(0)))
    assert len(batches) == stage.steps_per_epoch == 2  # of seven gold pairs
    assert set(np.concatenate([questions for questions, _ in batches]).tolist()) == {0, 1, 2, 3}
    assert {4, 5, 8, 0, 6, 9} <= set(np.concatenate([articles for _, articles in batches]).tolist())


def test_dev_ranks_by_the_graphs_article_vectors(after, village, dev_mrr):
    stage, encoders, _, articles = after()
    questions = encoders.questions(encoders.question_inputs([question.text for question in village.split("dev")]))
    assert stage.dev_metrics()["MRR@10"] == pytest.approx(dev_mrr(questions, articles), abs=1e-5)
