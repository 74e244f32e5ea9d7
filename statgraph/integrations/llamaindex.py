"""A run as a retriever of LlamaIndex's. Needs the extra `integrations`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from statgraph.extras import missing
from statgraph.integrations import hit_metadata
from statgraph.law.query import LIMITS
from statgraph.retrieval.search.retriever import Retriever

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise missing(error.name or str(error), "integrations") from None


class StatgraphRetriever(BaseRetriever):  # type: ignore[misc]
    """Finds articles of law for an index or a query engine: `retrieve` and `aretrieve` (on a thread) return nodes with
    scores, best first.

    A node's `text` is the article's, its `node_id` the article's id, and its `metadata` what `hit_metadata` gives.

    `run` and `device` are those of `Retriever.load`. `options` are the limits of `Retriever.search` (`k`, `codes`,
    `heading`, `as_of`), and what LlamaIndex's own `BaseRetriever` takes, such as `callback_manager`. The errors are
    those of both.
    """

    def __init__(self, run: Path | str, *, device: str = "auto", **options: Any):
        self._limits = {name: options.pop(name) for name in LIMITS if name in options}
        super().__init__(**options)
        self._retriever = Retriever.load(run, device=device)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the `k` best articles."""
        hits = self._retriever.search(query_bundle.query_str, **self._limits)
        return [
            NodeWithScore(node=TextNode(text=hit.text, id_=hit.article_id, metadata=hit_metadata(hit)), score=hit.score)
            for hit in hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the same, computed on a thread: the event loop goes on meanwhile."""
        return await asyncio.to_thread(self._retrieve, query_bundle)
