from dataclasses import replace

import numpy as np
import pytest
import torch

from statgraph.config import StudentConfig
from statgraph.encoders.inference.query_encoder import read_query_encoder
from statgraph.encoders.inference.query_graph import write_query_graph
from statgraph.training.student import TEMPERATURE, Lessons, Student, StudentEncoder

TEXTS = ("deposit", "notice")
ARTICLES = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], dtype=np.float32)
# The teacher puts the two words the other way round.
LESSONS = Lessons(TEXTS, np.array([[1, 0], [0, 2]], np.int32), np.array([[2.0, 0.0], [1.0, 1.0]], np.float32))
CONFIG = replace(StudentConfig(), epochs=1, batch_size=2, temperature=1.0)


@pytest.fixture
def encoder(query_encoder):
    return StudentEncoder(query_encoder)


@pytest.fixture
def student(encoder):
    return Student(encoder, ARTICLES, LESSONS, (["deposit"], [[1]]), CONFIG)


def test_the_loss_is_the_divergence_of_the_students_softmax_from_the_teachers(student):
    student.set_training(False)
    batch = np.array([0, 1]), np.arange(3)
    scores = np.eye(2, dtype=np.float64) @ ARTICLES.T / TEMPERATURE  # "deposit" is east, "notice" north
    log = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    first = np.array([1 / (1 + np.exp(2.0)), 1 / (1 + np.exp(-2.0))])  # of articles 0 and 1
    divergence = (first * (np.log(first) - log[0, :2])).sum() + (0.5 * (np.log(0.5) - log[1, [0, 2]])).sum()
    assert student.loss(batch).item() == pytest.approx(divergence / 2, rel=1e-5)


def test_every_text_comes_once_an_epoch_with_the_articles_that_the_teacher_names(student):
    ((texts, articles),) = student.batches(np.random.default_rng(0))
    assert sorted(texts) == [0, 1]
    assert list(articles) == [0, 1, 2]


def test_training_turns_questions_and_articles_to_what_the_teacher_says(student, encoder, tmp_path):
    before = student.dev_metrics()
    student.set_training(True)
    optimizer = torch.optim.Adam([group | {"lr": 0.05} for group in student.parameter_groups()])
    for _ in range(100):
        optimizer.zero_grad()
        student.loss((np.array([0, 1]), np.arange(3))).backward()
        optimizer.step()
    student.set_training(False)
    assert before["MRR@10"] < student.dev_metrics()["MRR@10"] == 1.0
    assert np.linalg.norm(student.index_vectors(), axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    encoder.save(tmp_path / "encoder")
    with torch.inference_mode():
        expected = encoder(encoder.inputs(TEXTS)).numpy()
    assert read_query_encoder(tmp_path / "encoder", device="cpu").encode(TEXTS) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("graph", [False, True])
def test_of_a_transformer_the_map_behind_its_pooling_is_trained(save_bert, tmp_path, graph):
    folder = save_bert("mean")
    if graph:
        pytest.importorskip("onnxruntime")
        write_query_graph(folder)
    encoder = StudentEncoder(folder, "cpu")
    assert {name for name, _ in encoder.named_parameters()} == {"weight", "bias"}
    texts = ("the tenant pays rent", "work")
    vectors = encoder.eval()(encoder.inputs(texts)).detach().numpy()
    assert vectors == pytest.approx(read_query_encoder(folder, device="cpu").encode(texts), abs=1e-5)
    with torch.no_grad():
        encoder.weight.mul_(torch.linspace(-1, 1, len(encoder.weight))[:, None])
        changed = encoder(encoder.inputs(texts)).numpy()
    encoder.save(tmp_path / "encoder")
    assert np.abs(changed - vectors).max() > 0.1
    assert read_query_encoder(tmp_path / "encoder", device="cpu").encode(texts) == pytest.approx(changed, abs=1e-5)
