"""The losses of both stages."""

from __future__ import annotations

import torch
from torch.nn import functional


def similarities(questions: torch.Tensor, articles: torch.Tensor) -> torch.Tensor:
    """Return the inner products (questions, articles) float32 of vectors (questions, width) and (articles, width).

    Mixed precision stays out: divided by a temperature of 0.01, bfloat16 scores have but a few dozen values.
    """
    with torch.autocast(questions.device.type, enabled=False):
        return questions.float() @ articles.float().T


def contrastive_loss(
    scores: torch.Tensor, positives: torch.Tensor, never_negative: torch.Tensor, *, temperature: float
) -> torch.Tensor:
    """Return the mean cross-entropy of each pair's article among the batch's (G-DSR, section 3.1, equation 3).

    Args:
        scores: (pairs, articles), the similarity of each pair's question with each article of the batch.
        positives: (pairs,) int64, the column of each pair's article.
        never_negative: (pairs, articles) bool, articles that answer the pair's question as well: they are left out of
            its softmax.
        temperature: what the scores are divided by.
    """
    return functional.cross_entropy(scores.masked_fill(never_negative, -torch.inf) / temperature, positives)


def distillation_loss(teacher: torch.Tensor, student: torch.Tensor, *, temperature: float) -> torch.Tensor:
    """Return the mean KL divergence KL(teacher || student) of score distributions over the batch's articles (QABISAR,
    section 2.3). No gradient reaches the teacher.

    Args:
        teacher: (questions, articles), scores of the graph's question vectors.
        student: (questions, articles), scores of the query encoder's vectors.
        temperature: what both are divided by before the softmax.
    """
    target = functional.log_softmax(teacher.detach() / temperature, dim=1)
    guess = functional.log_softmax(student / temperature, dim=1)
    return functional.kl_div(guess, target, reduction="batchmean", log_target=True)
