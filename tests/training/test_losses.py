import math

import pytest
import torch

from statgraph.config import Stage1Config
from statgraph.encoders.similarity import SIMILARITIES
from statgraph.training.losses import (
    contrastive_loss,
    feature_distillation,
    ranking_loss,
    score_distillation,
    triplet_loss,
)

NONE = torch.zeros((2, 3), dtype=torch.bool)
LAST_AND_FIRST = torch.tensor([[False, False, True], [True, False, False]])
LAST_AND_SECOND = torch.tensor([[False, False, True], [False, True, False]])


@pytest.mark.parametrize(
    ("left_out", "temperature", "shares"),
    [
        (NONE, 1.0, (7, 5)),  # exp(scores) are (1, 2, 4) and (3, 1, 1); the pairs' articles have 1 of 7 and 1 of 5
        (LAST_AND_FIRST, 1.0, (3, 2)),  # without the 4 the first has 1 of 3; without the 3 the second has 1 of 2
        (NONE, 0.5, (21, 11)),  # the weights exp(2 s) are (1, 4, 16) and (9, 1, 1)
    ],
)
def test_contrastive_loss_by_hand(left_out, temperature, shares):
    scores = torch.log(torch.tensor([[1.0, 2.0, 4.0], [3.0, 1.0, 1.0]]))
    loss = contrastive_loss(scores, torch.tensor([0, 2]), left_out, temperature=temperature)
    assert loss.item() == pytest.approx(sum(map(math.log, shares)) / 2)


@pytest.mark.parametrize(
    ("left_out", "means"),
    [
        # First pair: own 0.9, others 0.5 and 0.2, margin 0.5: max(0, 0.1), max(0, -0.2); mean 0.05.
        # Second: own 0.1, others 0.3 and 0.4: 0.7 and 0.8; mean 0.75.
        (NONE, (0.05, 0.75)),
        (LAST_AND_SECOND, (0.1, 0.7)),
    ],
)
def test_triplet_loss_by_hand(left_out, means):
    scores = torch.tensor([[0.9, 0.5, 0.2], [0.3, 0.4, 0.1]])
    loss = triplet_loss(scores, torch.tensor([0, 2]), left_out, margin=0.5)
    assert loss.item() == pytest.approx(sum(means) / 2)


def test_losses_by_name():
    scores, own = torch.tensor([[0.9, 0.5, 0.2], [0.3, 0.4, 0.1]]), torch.tensor([0, 2])
    triplet, entropy = (Stage1Config(loss=name, temperature=0.1, margin=0.5) for name in ("triplet", "cross-entropy"))
    assert ranking_loss(triplet, scores, own, NONE) == triplet_loss(scores, own, NONE, margin=0.5)
    assert ranking_loss(entropy, scores, own, NONE) == contrastive_loss(scores, own, NONE, temperature=0.1)


# Two articles along the axes: a question's scores by inner product are its components.
AXES = torch.eye(2)
DOT = {"similarity": SIMILARITIES["dot"]}


@pytest.mark.parametrize(
    ("teacher", "student", "temperature", "divergence"),
    [
        # First question: teacher (1/2, 1/2), student (1/4, 3/4). Second: both (1/3, 2/3).
        ([[1, 1], [1, 2]], [[1, 3], [1, 2]], 1.0, (0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)) / 2),
        # KL((3/4, 1/4) || (1/2, 1/2)) is not KL the other way round.
        ([[3, 1]], [[1, 1]], 1.0, 0.75 * math.log(1.5) + 0.25 * math.log(0.5)),
        # At 0.5 the teacher's weights (1, 3) become (1, 9); the student's stay even.
        ([[1, 3]], [[1, 1]], 0.5, 0.1 * math.log(0.2) + 0.9 * math.log(1.8)),
    ],
)
def test_distillation_by_hand(teacher, student, temperature, divergence):
    teacher, student = (torch.tensor(weights).log() for weights in (teacher, student))
    found = score_distillation(teacher, student, AXES, **DOT, temperature=temperature)
    assert found.item() == pytest.approx(divergence)


def test_no_gradient_reaches_the_teacher():
    teacher, student = (torch.randn(2, 2, requires_grad=True) for _ in range(2))
    score_distillation(teacher, student, AXES, **DOT, temperature=0.1).backward()
    assert teacher.grad is None
    assert student.grad.abs().sum() > 0


def test_feature_distillation_by_hand():
    # Squared distances 1 + 4 and 9.
    teacher, student = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [3.0, 0.0]])
    student.requires_grad_()
    teacher.requires_grad_()
    loss = feature_distillation(teacher, student, AXES, **DOT, temperature=0.1)
    assert loss.item() == pytest.approx((5 + 9) / 2)
    loss.backward()
    assert teacher.grad is None
    assert student.grad.tolist() == [[-1.0, -2.0], [3.0, 0.0]]
