"""What the values of a configuration may be, beyond their types: a run of hours must not end on a batch size of 0."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.graph.relations import relations_of

_NEGATIVES = ("none", "bm25", "cusines")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "retriever": ("dense", "bm25"),
    "encoder.similarity": ("cosine", "dot", "euclidean"),
    "negatives.semantic": ("dynamic", "bm25"),
    "negatives.schedule": ("curriculum", "uniform", "hardest"),
    "stage1.loss": ("cross-entropy", "triplet"),
    "stage1.negatives": _NEGATIVES,
    "stage2.negatives": _NEGATIVES,
    "stage2.train_encoders": ("none", "query", "both"),
    "stage2.distillation": ("none", "score", "feature", "both"),
    "graph.target_edges": ("mask", "keep"),
}


@dataclass(frozen=True)
class Limits:
    """The least and the greatest value, and the same in words."""

    least: float
    greatest: float
    words: str


# By the last part of a setting's name, since a word means the same in every group.
_SHARE = Limits(0, 1, "from 0 to 1")
_COUNT = Limits(1, math.inf, "1 or more")
_POSITIVE = Limits(math.ulp(0.0), math.inf, "above 0")
_OTHERS = Limits(0, math.inf, "0 or more")
LIMITS: Mapping[str, Limits] = {
    **dict.fromkeys(("batch_size", "chunk_tokens", "max_tokens", "article_heads", "heads", "layers"), _COUNT),
    **dict.fromkeys(("depth", "buckets", "per_article", "articles_per_heading", "checkpoint_steps"), _COUNT),
    **dict.fromkeys(("article_dropout", "token_dropout", "dropout", "citation_dropout", "mask_share"), _SHARE),
    **dict.fromkeys(("warmup", "student_share", "b"), _SHARE),
    **dict.fromkeys(("temperature", "lr"), _POSITIVE),
    "fanout": Limits(-1, math.inf, "-1 (all neighbours) or more"),
    "first_gate": Limits(-math.inf, math.inf, "any number"),
}


def check_limits(config: RunConfig) -> None:
    """Return if every value of a configuration can be trained with.

    Raises:
        UsageError: for the first that cannot.
    """
    for name, value in _leaves(config.to_dict()):
        if name in CHOICES and value not in CHOICES[name]:
            raise UsageError(f"{name}: '{value}' is not known; choose from {', '.join(CHOICES[name])}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            limits = LIMITS.get(name.rpartition(".")[2], _OTHERS)
            if not math.isfinite(value) or not limits.least <= value <= limits.greatest:
                raise UsageError(f"{name}: {value} is out of range; give {limits.words}")
    _check_names(config)
    stage1, stage2 = config.stage1, config.stage2
    if stage1.epochs and not stage1.gold + stage1.headings + stage1.synthetic:
        raise UsageError(
            "stage1.gold, stage1.headings and stage1.synthetic: all are 0; give one source of pairs a weight"
        )
    if stage2.epochs and not stage2.gold:
        raise UsageError("stage2.gold: is 0; the graph is trained on gold pairs, so give them a weight above 0")


def _check_names(config: RunConfig) -> None:
    """Return if everything that is named in a registry stands there: stage 2 comes long after stage 1."""
    from statgraph.gnn.registry import layer_of
    from statgraph.negatives.rankings import check_rankings

    relations_of(config.graph.relations)
    layer_of(config.gnn.layer)
    check_rankings(config.negatives)


def _leaves(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
