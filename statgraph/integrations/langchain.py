"""A run as a retriever of LangChain's. Needs the extra `langchain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from statgraph.extras import missing
from statgraph.integrations import hit_metadata
from statgraph.retrieval.search.retriever import Retriever

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field, PrivateAttr
except ImportError as error:
    raise missing(error.name or str(error), "integrations") from None


class StatgraphRetriever(BaseRetriever):
    """Finds articles of law for a chain: `invoke`, `ainvoke` (on a thread), `batch` and their like return documents,
    best first.

    A document's `page_content` is the article's text, its `id` the article's, and its `metadata` what `hit_metadata`
    gives.

    Raises:
        ValidationError: pydantic's, for an unknown option or a value out of range; else as `Retriever.load` and
            `Retriever.search`.
    """

    # An unknown option is refused: with a misspelt `as_of` today's law would be searched unnoticed.
    model_config = ConfigDict(extra="forbid")

    run: Path | str
    k: int = Field(default=10, ge=1)
    codes: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    as_of: str = "today"
    device: str = "auto"

    _retriever: Retriever = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Load the run."""
        super().model_post_init(context)
        self._retriever = Retriever.load(self.run, device=self.device)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        """Return the `k` best articles."""
        limits = {"codes": self.codes, "heading": self.heading, "as_of": self.as_of}
        hits = self._retriever.search(query, k=self.k, **limits)
        return [Document(page_content=hit.text, id=hit.article_id, metadata=hit_metadata(hit)) for hit in hits]
