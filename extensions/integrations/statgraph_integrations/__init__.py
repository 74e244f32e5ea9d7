"""statgraph in other programs. Each module needs the extra of its name; `statgraph.integrations` hands them out."""

from __future__ import annotations

from statgraph.errors import DependencyError
from statgraph.search.hits import Hit


def hit_metadata(hit: Hit) -> dict[str, object]:
    """Return a hit's metadata for a framework, as JSON values: the fields of `Hit` that are known, but its text and
    passage, the path as a list."""
    metadata = {
        key: value for key, value in vars(hit).items() if key not in ("text", "passage") and value not in (None, "")
    }
    return metadata | {"path": list(hit.path)}


def missing(error: ImportError, extra: str) -> DependencyError:
    """Return the error for a library that cannot be imported, with the extra that brings it."""
    return DependencyError(f"{error.name}: not installed; run: pip install './extensions/integrations[{extra}]'")
