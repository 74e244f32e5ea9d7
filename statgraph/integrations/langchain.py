"""A run as a retriever of LangChain's. Needs the extra `integrations`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from statgraph.extras import missing
from statgraph.integrations import hit_metadata
from statgraph.law.query import COUNT, DAY, LIMITS, PATH, TEXTS
from statgraph.retrieval.search.retriever import Retriever

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field, PrivateAttr, create_model
except ImportError as error:
    raise missing(error.name or str(error), "integrations") from None

_KINDS: dict[str, Any] = {COUNT: Annotated[int, Field(ge=1)], TEXTS: tuple[str, ...], PATH: tuple[str, ...], DAY: str}
_LIMITS: dict[str, Any] = {name: (_KINDS[limit.kind], limit.default) for name, limit in LIMITS.items()}
_LimitedRetriever: Any = create_model("_LimitedRetriever", __base__=BaseRetriever, **_LIMITS)


class StatgraphRetriever(_LimitedRetriever):  # type: ignore[misc]
    """Finds articles of law for a chain: `invoke`, `ainvoke` (on a thread), `batch` and their like return documents,
    best first.

    A document's `page_content` is the article's text, its `id` the article's, and its `metadata` what `hit_metadata`
    gives. The limits of a search are fields, and can be given again with a question: `invoke(question, k=3)`.

    Raises:
        ValidationError: pydantic's, for an unknown option or a value out of range; else as `Retriever.load` and
            `Retriever.search`.
    """

    # An unknown option is refused: with a misspelt `as_of` today's law would be searched unnoticed.
    model_config = ConfigDict(extra="forbid")

    run: Path | str
    device: str = "auto"

    _retriever: Retriever = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Load the run."""
        super().model_post_init(context)
        self._retriever = Retriever.load(self.run, device=self.device)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **limits: Any
    ) -> list[Document]:
        """Return the `k` best articles."""
        hits = self._retriever.search(query, **{name: getattr(self, name) for name in LIMITS} | limits)
        return [Document(page_content=hit.text, id=hit.article_id, metadata=hit_metadata(hit)) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **limits: Any
    ) -> list[Document]:
        """Return the same, computed on a thread; LangChain's own would drop the limits."""
        return await asyncio.to_thread(
            self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **limits
        )
