"""Find the articles of law that answer a question."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["Hit", "Retriever", "__version__"]


def __getattr__(name: str):
    """Load the public classes when they are first named, so that importing the package stays quick."""
    if name in ("Hit", "Retriever"):
        from statgraph.search import hits, retriever

        return retriever.Retriever if name == "Retriever" else hits.Hit
    raise AttributeError(f"module 'statgraph' has no attribute '{name}'")
