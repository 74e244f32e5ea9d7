import pytest
import torch

from statgraph.graph.build import build_graph
from statgraph.training.node_bank import GraphTexts, NodeBank
from statgraph.training.pairs import gold_pairs

CPU = torch.device("cpu")


@pytest.fixture
def texts(village) -> dict[str, list[str]]:
    headings = [heading.title for heading in build_graph(village).headings]
    return {
        "article": [article.text for article in village.articles],
        "heading": headings,
        "question": list(gold_pairs(village).texts),
    }


@pytest.fixture
def bank_of(texts):
    def build(encoders) -> NodeBank:
        inputs = GraphTexts(
            encoders.article_inputs(texts["article"]),
            encoders.article_inputs(texts["heading"]),
            encoders.question_inputs(texts["question"]),
        )
        return NodeBank(encoders, inputs, device=CPU)

    return build


def test_nodes_are_the_types_one_after_the_other(bank_of, static_encoders, texts):
    encoders = static_encoders()
    encoders.train()
    bank = bank_of(encoders)
    assert encoders.training
    encoders.eval()
    start = 0
    for node_type, of_type in texts.items():
        if node_type == "question":
            wanted = encoders.questions(encoders.question_inputs(of_type))
        else:
            wanted = encoders.articles(encoders.article_inputs(of_type))
        assert torch.allclose(bank[node_type], wanted, atol=1e-6)
        assert bank.nodes[start : start + len(of_type)].equal(bank[node_type])
        start += len(of_type)
    assert start == len(bank.nodes)
    assert not bank.nodes.requires_grad


def test_it_changes_with_the_encoders_when_it_is_renewed(bank_of, static_encoders):
    encoders = static_encoders()
    bank = bank_of(encoders)
    before = bank.nodes
    with torch.no_grad():
        encoders.encoder.vectors += torch.randn(encoders.encoder.vectors.shape)
    assert bank.nodes.equal(before)
    bank.renew()
    assert not bank.nodes.equal(before)
    assert bank["article"].equal(bank.nodes[:12])
