"""A text encoder before any training, and the names of the embedded ones."""

from __future__ import annotations

from dataclasses import dataclass, field

EMBEDDED_E5 = "embedded:multilingual-e5-small"
EMBEDDED_STATIC = "embedded:static"


@dataclass(frozen=True)
class Backbone:
    """A text encoder before any training.

    `kind` is `static` (token vectors) or `transformer`; `location` a folder or a hub name; `pooling` `mean`, `cls` or
    `max`. `chosen`: what was chosen here, since the files do not say it.
    """

    name: str
    kind: str
    location: str
    pooling: str
    query_prefix: str = ""
    passage_prefix: str = ""
    chosen: str = field(default="", compare=False)

    @property
    def prompts(self) -> dict[str, str]:
        """Return the prefixes by the names that sentence-transformers gives them."""
        return {"query": self.query_prefix, "document": self.passage_prefix}
