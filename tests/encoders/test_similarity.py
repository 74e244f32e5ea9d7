import numpy as np
import pytest
import torch

from statgraph.encoders.biencoder import dense_module
from statgraph.encoders.similarity import SIMILARITIES, similarity_of

QUESTIONS = torch.tensor([[3.0, 4.0], [1.0, 0.0]])
ARTICLES = torch.tensor([[0.0, 0.0], [3.0, 0.0], [6.0, 8.0]])


def test_scores_by_hand():
    assert SIMILARITIES["dot"].scores(QUESTIONS, ARTICLES).tolist() == [[0, 9, 50], [0, 3, 6]]
    distances = SIMILARITIES["euclidean"].scores(QUESTIONS, ARTICLES)
    assert distances.flatten().tolist() == pytest.approx([-5, -4, -5, -1, -2, -((25 + 64) ** 0.5)])
    unit = SIMILARITIES["cosine"].finished(QUESTIONS)
    assert unit.flatten().tolist() == pytest.approx([0.6, 0.8, 1, 0])


@pytest.mark.parametrize("name", SIMILARITIES)
def test_an_inner_product_ranks_alike(name):
    similarity = similarity_of(name)
    generator = torch.Generator().manual_seed(0)
    questions, articles = (similarity.finished(torch.randn(count, 6, generator=generator) * 3) for count in (5, 40))
    wanted = torch.argsort(similarity.scores(questions, articles), dim=1, descending=True)
    index, queries = similarity.index_vectors(articles.numpy()), similarity.query_vectors(questions.numpy())
    assert index.dtype == queries.dtype == np.float32
    assert np.argsort(-(queries @ index.T), axis=1).tolist() == wanted.tolist()


@pytest.mark.parametrize("name", SIMILARITIES)
def test_the_query_projection_gives_query_vectors(name):
    similarity = similarity_of(name)
    generator = torch.Generator().manual_seed(0)
    weight, bias = torch.randn(4, 4, generator=generator), torch.randn(4, generator=generator)
    raw = torch.randn(3, 4, generator=generator)
    dense = dense_module(*similarity.query_projection(weight, bias))
    projected = dense({"sentence_embedding": raw})["sentence_embedding"]
    wanted = similarity.query_vectors((raw @ weight.T + bias).numpy())
    np.testing.assert_allclose(projected.detach().numpy(), wanted, atol=1e-5)


def test_equal_vectors_have_a_finite_gradient():
    question = torch.ones(1, 3, requires_grad=True)
    SIMILARITIES["euclidean"].scores(question, torch.ones(1, 3)).sum().backward()
    assert question.grad.isfinite().all()
