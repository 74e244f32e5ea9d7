import numpy as np
import pytest
import torch

from statgraph.graph.build import build_graph
from statgraph.training.pairs import gold_pairs
from statgraph.training.text_model import NodeBank, vector_metrics, with_fresh


def test_metrics_by_hand():
    # The question looks north: article 2 comes first, 0 second, 1 last; 0 and 1 answer it.
    metrics = vector_metrics(
        np.array([[0.0, 1.0]], dtype=np.float32), np.array([[0.8, 0.6], [1, 0], [0, 1]], dtype=np.float32), [[0, 1]]
    )
    assert metrics["MRR@10"] == 0.5
    assert "R@200" not in metrics  # of three articles
    assert metrics["quality"] == pytest.approx((1 + (1 / 2 + 2 / 3) / 2) / 2, abs=1e-5)
    assert metrics["mRP"] == 0.5
    assert metrics["mAP"] == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-5)


OLD = torch.tensor([[1.0], [2.0], [3.0], [4.0]])


@pytest.fixture
def texts(village) -> dict[str, list[str]]:
    headings = [heading.title for heading in build_graph(village).headings]
    return {
        "article": [article.text for article in village.articles],
        "heading": headings,
        "question": list(gold_pairs(village).texts),
        "citing": ["Whoever breaks a lamp pays.", "Wells"],
    }


@pytest.fixture
def bank_of(texts, village, text_model):
    def build(encoders) -> NodeBank:
        inputs = {
            "heading": encoders.article_inputs(texts["heading"]),
            "question": encoders.question_inputs(texts["question"]),
            "citing": encoders.question_inputs(texts["citing"]),
        }
        return NodeBank(text_model(encoders, village), inputs)

    return build


def test_nodes_are_the_types_one_after_the_other(bank_of, static_encoders, texts):
    encoders = static_encoders()
    encoders.train()
    bank = bank_of(encoders)
    assert encoders.training
    encoders.eval()
    start = 0
    for node_type, of_type in texts.items():
        if node_type in ("question", "citing"):
            wanted = encoders.questions(encoders.question_inputs(of_type))
        else:
            wanted = encoders.articles(encoders.article_inputs(of_type))
        assert torch.allclose(bank.by_type[node_type], wanted, atol=1e-6)
        assert bank.nodes[start : start + len(of_type)].equal(bank.by_type[node_type])
        start += len(of_type)
    assert start == len(bank.nodes)
    assert not bank.nodes.requires_grad


@pytest.mark.parametrize(
    ("nodes", "fresh_nodes", "expected", "gradient"),
    [
        ([5, 8, 2, 9], [5, 8], [10, 20, 3, 4], [1, 2]),  # a whole batch: its nodes come first
        ([8, 2, 5, 9], [5, 8], [20, 2, 10, 4], [3, 1]),
        ([8, 2, 4, 9], [5, 8], [20, 2, 3, 4], [0, 1]),  # node 5 is no input of this process's block
        ([7, 2, 4, 9], [5, 8], [1, 2, 3, 4], [0, 0]),
    ],
)
def test_fresh_vectors_take_the_place_of_old_ones(nodes, fresh_nodes, expected, gradient):
    fresh = torch.tensor([[10.0], [20.0]], requires_grad=True)
    inputs = with_fresh(OLD, torch.tensor(nodes), fresh, np.array(fresh_nodes))
    assert inputs.flatten().tolist() == expected
    assert OLD.flatten().tolist() == [1, 2, 3, 4]

    (inputs.flatten() * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert fresh.grad.flatten().tolist() == gradient
