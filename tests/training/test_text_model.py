import numpy as np
import pytest

from statgraph.evaluation.metrics import aggregate, question_metrics
from statgraph.training.text_model import vector_metrics


@pytest.mark.parametrize("n_articles", [3, 120, 501, 900])
def test_metrics_agree_with_a_full_sort(n_articles):
    rng = np.random.default_rng(n_articles)
    questions = rng.standard_normal((20, 16)).astype(np.float32)
    articles = rng.standard_normal((n_articles, 16)).astype(np.float32)
    labels = [rng.choice(n_articles, size=rng.integers(1, 4), replace=False).tolist() for _ in range(20)]
    ranking = np.argsort(-(questions @ articles.T), axis=1, kind="stable")[:, :500]
    wanted = aggregate(question_metrics(ranking, labels, n_articles))
    assert vector_metrics(questions, articles, labels) == {name: round(value, 5) for name, value in wanted.items()}


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


def test_ties_go_by_row():
    alike, question = np.ones((400, 2), dtype=np.float32), np.ones((1, 2), dtype=np.float32)
    for row in (0, 1, 9):
        assert vector_metrics(question, alike, [[row]])["MRR@10"] == round(1 / (row + 1), 5)
