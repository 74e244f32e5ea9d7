"""A question in the law's words as well: a chat endpoint rewrites it, and what both find is fused."""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import numpy as np

from statgraph.corpus.query import reciprocal_rank_fusion
from statgraph.errors import RewritingError, UsageError, reason_of
from statgraph.search.hits import Hit
from statgraph.settings import check_settings, setting

KEY_VARIABLES = ("STATGRAPH_REWRITE_KEY", "OPENAI_API_KEY")  # the first that is set counts
DEPTH = 100  # how many hits of each wording are fused
RANK_OFFSET = 60  # of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)
_MOST_CHARACTERS = 2000
_MOST_BYTES = 1 << 20
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

    def __post_init__(self):
        check_settings(self, "rewrite")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"--rewrite {self.url}: not a URL; write it like http://127.0.0.1:8080/v1")
        if parts.username is not None or parts.query or parts.fragment:
            raise UsageError(f"--rewrite: the URL holds more than a place; put a key into {KEY_VARIABLES[0]}")

    def rewrite(self, question: str) -> str:
        """Return a question in the law's words.

        Raises:
            RewritingError: if the endpoint is away, refuses, is too slow, or answers with something else.
        """
        messages = [{"role": "system", "content": _TASK}, {"role": "user", "content": question}]
        body = {"messages": messages, "temperature": 0, "stream": False} | ({"model": self.model} if self.model else {})
        headers = {"Content-Type": "application/json"}
        key = next((os.environ[name] for name in KEY_VARIABLES if os.environ.get(name)), None)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
        try:
            with _OPENER.open(request, timeout=self.timeout_s) as answer:
                said = json.loads(answer.read(_MOST_BYTES))["choices"][0]["message"]["content"]
            rewritten = " ".join(said.split())[:_MOST_CHARACTERS]
        except urllib.error.HTTPError as error:
            raise self._failed(f"status {error.code}") from None
        except (OSError, http.client.HTTPException) as error:  # no connection, a timeout, a lost connection
            cause = getattr(error, "reason", error)
            raise self._failed(reason_of(cause) if isinstance(cause, Exception) else "no answer") from None
        except (ValueError, LookupError, TypeError, AttributeError):
            raise self._failed("not the answer of a chat endpoint") from None
        if not rewritten:
            raise self._failed("a blank answer")
        return rewritten

    def _failed(self, reason: str) -> RewritingError:
        return RewritingError(f"{self.url}: the question was not rewritten ({reason}); only its own words are searched")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: urllib would send the key along to wherever they lead."""

    def redirect_request(self, *about: object) -> None:
        """Return nothing, which makes the redirect an error."""
        return


_OPENER = urllib.request.build_opener(_NoRedirects)


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
