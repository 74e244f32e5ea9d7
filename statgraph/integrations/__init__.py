"""The retriever as other frameworks take it; each module needs the extra of its name."""

from __future__ import annotations

from statgraph.search.hits import Hit


def hit_metadata(hit: Hit) -> dict[str, object]:
    """Return a hit's metadata for a framework, as JSON values: article_id, title, path (a list, from
    the code down), score and rank (from 1)."""
    return {
        "article_id": hit.article_id,
        "title": hit.title,
        "path": list(hit.path),
        "score": hit.score,
        "rank": hit.rank,
    }
