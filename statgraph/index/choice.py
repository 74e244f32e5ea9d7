"""Which kind of index a run gets, and the settings that depend on its size."""

from __future__ import annotations

from dataclasses import replace

from statgraph.config import INDEX_KINDS, HnswConfig, IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.index.ivf_pq_index import LEAST_ARTICLES
from statgraph.index.mapped_vectors import PRECISIONS

_COMPONENTS_PER_BYTE = 4
_LEAST_PROBES = 64
_PROBED_SHARE = 8  # one list in so many


def chosen_index(config: IndexConfig, n_articles: int, width: int) -> IndexConfig:
    """Return the configuration with the kind that `auto` stands for, and every setting that was left to the size.

    Raises:
        UsageError: if the kind is not known, or a setting makes no sense.
        RunError: if there are too few articles for the kind.
    """
    if config.kind not in INDEX_KINDS:
        raise UsageError(f"index: kind '{config.kind}' is not known; choose from {', '.join(INDEX_KINDS)}")
    kind = config.kind
    if kind == "auto":
        kind = "flat" if n_articles <= max(config.flat_most, LEAST_ARTICLES) else "ivf-pq"
    _check_least(config.hnsw, "hnsw", links=2, build_breadth=1, search_breadth=1)
    _check_least(config.ivf_pq, "ivf_pq", lists=0, probes=0, code_bytes=0, rerank=1)
    if config.ivf_pq.precision not in PRECISIONS:
        raise UsageError(f"ivf_pq.precision is '{config.ivf_pq.precision}'; choose from {', '.join(PRECISIONS)}")
    if kind == "ivf-pq":
        config = replace(config, ivf_pq=_sized(config.ivf_pq, n_articles, width))
    return replace(config, kind=kind)


def _sized(settings: IvfPqConfig, n_articles: int, width: int) -> IvfPqConfig:
    if n_articles < LEAST_ARTICLES:
        raise RunError(
            f"index: {n_articles} articles, and ivf-pq learns its codes from {LEAST_ARTICLES} at least; "
            "take --kind flat"
        )
    lists = settings.lists or 2 ** (int(2 * n_articles**0.5).bit_length() - 1)
    if lists > n_articles:
        raise UsageError(f"ivf_pq.lists is {lists}, but there are {n_articles} articles; give 1 to {n_articles}")
    probes = min(lists, settings.probes or max(_LEAST_PROBES, lists // _PROBED_SHARE))
    code_bytes = settings.code_bytes or -(-width // _COMPONENTS_PER_BYTE)
    if 2 * code_bytes > width + 1:
        raise UsageError(
            f"ivf_pq.code_bytes is {code_bytes}, more than one for two of {width} components; "
            f"give 1 to {(width + 1) // 2}"
        )
    return replace(settings, lists=lists, probes=probes, code_bytes=code_bytes)


def _check_least(settings: HnswConfig | IvfPqConfig, group: str, **least: int) -> None:
    for name, lowest in least.items():
        value = getattr(settings, name)
        if value < lowest:
            raise UsageError(f"{group}.{name} is {value}; give at least {lowest}")
