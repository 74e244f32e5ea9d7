"""The losses of both stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch.nn import functional

from statgraph.config import Stage1Config, Stage2Config
from statgraph.encoders.similarity import Similarity


def similarities(questions: torch.Tensor, articles: torch.Tensor, similarity: Similarity) -> torch.Tensor:
    """Return the similarities (questions, articles) float32 of vectors (questions, width) and (articles, width).

    Mixed precision stays out: divided by a temperature of 0.01, bfloat16 scores have but a few dozen values.
    """
    with torch.autocast(questions.device.type, enabled=False):
        return similarity.scores(questions.float(), articles.float())


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


def triplet_loss(
    scores: torch.Tensor, positives: torch.Tensor, never_negative: torch.Tensor, *, margin: float
) -> torch.Tensor:
    """Return the mean of max(0, margin - s(question, positive) + s(question, negative)) over each pair's negatives, and
    then over the pairs (G-DSR, table 6). The arguments are those of `contrastive_loss`.

    Args:
        margin: by how much a positive should be more alike than a negative.
    """
    own = scores.gather(1, positives.unsqueeze(1))  # (pairs, 1)
    negative = ~never_negative
    negative = negative.scatter(1, positives.unsqueeze(1), False)
    short = functional.relu(margin - own + scores) * negative  # (pairs, articles)
    return (short.sum(dim=1) / negative.sum(dim=1).clamp(min=1)).mean()


def ranking_loss(
    config: Stage1Config, scores: torch.Tensor, positives: torch.Tensor, never_negative: torch.Tensor
) -> torch.Tensor:
    """Return the loss that `stage1.loss` names, cross-entropy or triplet; the rest as in `contrastive_loss`."""
    if config.loss == "triplet":
        return triplet_loss(scores, positives, never_negative, margin=config.margin)
    return contrastive_loss(scores, positives, never_negative, temperature=config.temperature)


def score_distillation(
    teacher: torch.Tensor, student: torch.Tensor, articles: torch.Tensor, *, similarity: Similarity, temperature: float
) -> torch.Tensor:
    """Return the mean KL divergence KL(teacher || student) of score distributions over articles (QABISAR, section 2.3).
    No gradient reaches the teacher's distribution.

    Args:
        teacher: (questions, width), the graph's question vectors.
        student: (questions, width), the query encoder's.
        articles: (articles, width), what both are compared with.
        temperature: what the scores are divided by before the softmax.
    """
    target = similarities(teacher, articles, similarity).detach() / temperature  # (questions, articles)
    guess = similarities(student, articles, similarity) / temperature
    return functional.kl_div(
        functional.log_softmax(guess, dim=1),
        functional.log_softmax(target, dim=1),
        reduction="batchmean",
        log_target=True,
    )


def feature_distillation(
    teacher: torch.Tensor, student: torch.Tensor, articles: torch.Tensor, *, similarity: Similarity, temperature: float
) -> torch.Tensor:
    """Return the mean squared distance of the question vectors, teacher's and student's (QABISAR, section 2.3). No
    gradient reaches the teacher; articles, similarity and temperature play no part."""
    return (student.float() - teacher.detach().float()).square().sum(dim=1).mean()


# What `stage2.distillation` can name; the losses of a name are added up.
DISTILLATIONS: Mapping[str, tuple[Callable[..., torch.Tensor], ...]] = {
    "none": (),
    "score": (score_distillation,),
    "feature": (feature_distillation,),
    "both": (score_distillation, feature_distillation),
}


def distillation_losses(
    config: Stage2Config,
    teacher: torch.Tensor,
    student: torch.Tensor,
    articles: torch.Tensor,
    similarity: Similarity,
) -> list[torch.Tensor]:
    """Return the losses that `stage2.distillation` names, to be added up; the rest as in `score_distillation`."""
    return [
        loss(teacher, student, articles, similarity=similarity, temperature=config.temperature)
        for loss in DISTILLATIONS[config.distillation]
    ]
