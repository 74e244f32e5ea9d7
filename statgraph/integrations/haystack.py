"""A run as a retriever of Haystack's. Needs the extra `integrations`."""

from __future__ import annotations

import asyncio
import functools
import threading
from pathlib import Path
from typing import Any

from statgraph.extras import missing
from statgraph.integrations import hit_metadata
from statgraph.law.query import DAY, LIMITS, PATH, TEXTS, check_limits
from statgraph.retrieval.search.retriever import Retriever

try:
    from haystack import Document, component, default_to_dict
except ImportError as error:
    raise missing(error.name or str(error), "integrations") from None

_KINDS = {TEXTS: list[str], PATH: list[str], DAY: str}


@component
class StatgraphRetriever:
    """Finds articles of law for a pipeline: `run` and `run_async` (on a thread) return `documents`, best first.

    A document's `content` is the article's text, its `id` the article's, and its `meta` what `hit_metadata` gives.
    Whatever limits the search can be given again with a question.

    `run`, loaded by `warm_up` or with the first question, and `device` are those of `Retriever.load`; `top_k` is the
    `k` of `Retriever.search`, the limits are its others (`codes`, `heading`, `as_of`), and so are the errors.
    """

    def __init__(self, run: Path | str, *, top_k: int = LIMITS["k"].default, device: str = "auto", **limits: Any):
        self._folder, self._device = str(run), device
        check_limits(limits)
        self._limits = {"top_k": top_k, **limits}
        self._retriever: Retriever | None = None
        self._loading = threading.Lock()
        for name, limit in LIMITS.items():
            if name != "k":
                component.set_input_type(self, name, _KINDS[limit.kind] | None, None)

    def warm_up(self) -> None:
        """Load the run, unless that is done."""
        with self._loading:
            if self._retriever is None:
                self._retriever = Retriever.load(self._folder, device=self._device)

    def to_dict(self) -> dict[str, Any]:
        """Return what a saved pipeline makes this component from again."""
        saved: dict[str, Any] = default_to_dict(self, run=self._folder, device=self._device, **self._limits)
        return saved

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(self, query: str, top_k: int | None = None, **limits: Any) -> dict[str, list[Document]]:
        """Return the best articles as `documents`; what is None is as the component was made."""
        self.warm_up()
        assert self._retriever is not None
        chosen = {
            name: value
            for given in (self._limits, {"top_k": top_k, **limits})
            for name, value in given.items()
            if value is not None
        }
        hits = self._retriever.search(query, chosen.pop("top_k"), **chosen)
        documents = [
            Document(id=hit.article_id, content=hit.text, meta=hit_metadata(hit), score=hit.score) for hit in hits
        ]
        return {"documents": documents}

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    @functools.wraps(run)  # Haystack demands the same parameters
    async def run_async(self, *given: Any, **named: Any) -> dict[str, list[Document]]:
        """Return the same, computed on a thread: the event loop goes on meanwhile."""
        return await asyncio.to_thread(self.run, *given, **named)
