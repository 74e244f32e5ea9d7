"""A question in the law's words as well: a chat endpoint rewrites it, and what both find is fused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from statgraph.chat import GENERAL_KEY, ChatEndpoint
from statgraph.errors import ChatError, RewritingError, option
from statgraph.law.query import reciprocal_rank_fusion
from statgraph.retrieval.search.hits import Hit
from statgraph.settings import check_settings, setting

KEY_VARIABLES = ("STATGRAPH_REWRITE_KEY", GENERAL_KEY)  # the first that is set counts
DEPTH = 100  # how many hits of each wording are fused
RANK_OFFSET = 60  # of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)
_MOST_CHARACTERS = 2000
_TASK = """You rewrite a reader's question for a search engine over statutes. Answer with the question alone, in its own
language, in one or two sentences, and in the words that the law itself would use: the legal terms for its persons,
contracts, acts and deadlines in place of everyday words. Add nothing that it does not ask, name no statute and no
article, and do not answer it."""


@dataclass(frozen=True)
class Rewriter:
    """A chat endpoint that speaks OpenAI's protocol, a local server included. Questions leave this process for it.

    Attributes:
        url: up to and without `/chat/completions`, such as `http://127.0.0.1:8080/v1`.
        model: the name that it knows its model by; blank where it has only one.
        timeout_s: how long one answer may take.

    Raises:
        UsageError: if the URL is not one of http or https, or holds a password or parameters.
    """

    url: str
    model: str = ""
    timeout_s: float = setting(10.0, above=0)

    def __post_init__(self) -> None:
        check_settings(self, "rewrite")
        self._endpoint()

    def rewrite(self, question: str) -> str:
        """Return a question in the law's words.

        Raises:
            RewritingError: if the endpoint is away, refuses, is too slow, or answers with something else.
        """
        try:
            text = self._endpoint().answer(_TASK, question, temperature=0).text
            # JSON may hold half a character.
            return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())[:_MOST_CHARACTERS]
        except ChatError as error:
            raise RewritingError(
                f"{self.url}: the question was not rewritten ({error}); only its own words are searched"
            ) from None

    def _endpoint(self) -> ChatEndpoint:
        return ChatEndpoint(self.url, self.model, self.timeout_s, KEY_VARIABLES, option("rewrite"))


def fused(rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the best `k` hits of several rankings by reciprocal rank fusion: between equals the order of the first
    ranking decides, then of the next."""
    hits = {hit.article_id: hit for ranking in reversed(rankings) for hit in ranking}
    ids = list(dict.fromkeys(hit.article_id for ranking in rankings for hit in ranking))
    places = [{hit.article_id: hit.rank for hit in ranking} for ranking in rankings]
    ranks = np.array([[ranking.get(article_id, np.inf) for article_id in ids] for ranking in places])
    scores = reciprocal_rank_fusion(ranks, RANK_OFFSET)
    best = np.argsort(-scores, kind="stable")[:k]
    return [
        replace(hits[ids[place]], rank=rank, score=float(scores[place])) for rank, place in enumerate(best, start=1)
    ]
