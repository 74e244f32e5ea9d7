"""statgraph in other programs: LangChain, LlamaIndex, Haystack, MTEB, ir_datasets, and assistants (MCP)."""

from __future__ import annotations

from statgraph.retrieval.search.hits import Hit


def hit_metadata(hit: Hit) -> dict[str, object]:
    """Return a hit's metadata for a framework, as JSON values: the fields of `Hit` that are known, but its text and
    passage, the path as a list."""
    metadata = {
        key: value for key, value in vars(hit).items() if key not in ("text", "passage") and value not in (None, "")
    }
    return metadata | {"path": list(hit.path)}
