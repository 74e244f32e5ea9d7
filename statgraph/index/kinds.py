"""The kinds of index by name, and the kind and sizes that a number of articles gets."""

from __future__ import annotations

from dataclasses import replace

from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.index.flat_index import FlatIndex
from statgraph.index.ivf_pq_index import LEAST_ARTICLES, IvfPqIndex
from statgraph.settings import check_settings

_COMPONENTS_PER_BYTE = 4
_LEAST_PROBES = 64
_PROBED_SHARE = 8  # one list in so many


# Holds article vectors and searches them by inner product. Both kinds have the same methods and attributes: `kind`, the
# name in `KINDS`; `in_memory`, whether a search has all vectors in memory, so that reading an index can check them all;
# `width` of a vector; `vectors` (articles, width), float32 or float16, a view or a file on disk; and their `config`. A
# search has at least one row to search, and asks for no more than there are.
VectorIndex = FlatIndex | IvfPqIndex
KINDS: dict[str, type[VectorIndex]] = {kind.kind: kind for kind in (FlatIndex, IvfPqIndex)}


def chosen_index(config: IndexConfig, n_articles: int, width: int) -> IndexConfig:
    """Return the configuration with `auto` resolved and every setting that depends on the size filled in.

    Raises:
        UsageError: if the kind is unknown, or a setting is out of range.
        RunError: if there are too few articles for the kind.
    """
    check_settings(config)
    kind = config.kind
    if kind == "auto":
        kind = "flat" if n_articles <= max(config.flat_most, LEAST_ARTICLES) else "ivf-pq"
    if kind == "ivf-pq":
        config = replace(config, ivf_pq=_sized(config.ivf_pq, n_articles, width))
    return replace(config, kind=kind)


def _sized(settings: IvfPqConfig, n_articles: int, width: int) -> IvfPqConfig:
    if n_articles < LEAST_ARTICLES:
        raise RunError(
            f"index: ivf-pq needs at least {LEAST_ARTICLES} articles to learn its codes (got {n_articles}); "
            "use --kind flat"
        )
    lists = settings.lists or 2 ** (int(2 * n_articles**0.5).bit_length() - 1)
    if lists > n_articles:
        raise UsageError(f"ivf_pq.lists: must be at most {n_articles}, the number of articles (got {lists})")
    probes = min(lists, settings.probes or max(_LEAST_PROBES, lists // _PROBED_SHARE))
    code_bytes = settings.code_bytes or -(-width // _COMPONENTS_PER_BYTE)
    if 2 * code_bytes > width + 1:
        raise UsageError(
            f"ivf_pq.code_bytes: must be at most {(width + 1) // 2}, one for two of {width} components "
            f"(got {code_bytes})"
        )
    return replace(settings, lists=lists, probes=probes, code_bytes=code_bytes)
