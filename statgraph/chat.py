"""A chat endpoint that speaks OpenAI's protocol, a local server included: messages go in, one text comes out."""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from statgraph.errors import ChatError, UsageError, option, reason_of

GENERAL_KEY = "OPENAI_API_KEY"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Answer:
    """What an endpoint says, and how many tokens it counts for question and answer together; None where it does not."""

    text: str
    tokens: int | None


@dataclass(frozen=True)
class ChatEndpoint:
    """An endpoint. What it is asked leaves this process for it.

    Attributes:
        url: up to and without `/chat/completions`, such as `http://127.0.0.1:8080/v1`.
        model: the name that it knows its model by; blank where it has only one.
        timeout_s: how long one answer may take.
        key_variables: environment variables of the key, which is sent and never shown; the first that is set counts.
        option: what the user calls the URL.

    Raises:
        UsageError: if the URL is not one of http or https, or holds a password or parameters.
    """

    url: str
    model: str = ""
    timeout_s: float = 10.0
    key_variables: Sequence[str] = (GENERAL_KEY,)
    option: str = option("url")

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
        except ValueError:  # an unclosed bracket
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{self.option} {self.url}: not a URL; write it like http://127.0.0.1:8080/v1")
        if parts.username is not None or parts.query or parts.fragment:
            raise UsageError(f"{self.option}: the URL holds more than a place; put a key into {self.key_variables[0]}")

    def answer(self, task: str, text: str, **parameters: object) -> Answer:
        """Return the answer to a text, given a task (the system's message); `parameters` of the request go along.

        Raises:
            ChatError: if the endpoint is away, refuses, is too slow, or answers with something else.
        """
        messages = [{"role": "system", "content": task}, {"role": "user", "content": text}]
        body = {"messages": messages, "stream": False, **parameters} | ({"model": self.model} if self.model else {})
        headers = {"Content-Type": "application/json"}
        key = next((os.environ[name] for name in self.key_variables if os.environ.get(name)), None)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
        try:
            with _OPENER.open(request, timeout=self.timeout_s) as answer:
                said = json.loads(answer.read(_MOST_BYTES))
            content, usage = said["choices"][0]["message"]["content"].strip(), said.get("usage") or {}
            tokens = usage.get("total_tokens")
        except urllib.error.HTTPError as error:
            wait = error.headers.get("Retry-After") or ""
            raise ChatError(f"status {error.code}", error.code, int(wait) if wait.isdecimal() else None) from None
        except (OSError, http.client.HTTPException) as error:  # no connection, a timeout, a lost connection
            cause = getattr(error, "reason", error)
            raise ChatError(reason_of(cause) if isinstance(cause, Exception) else "no answer") from None
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ChatError("not the answer of a chat endpoint", http.client.OK) from None
        if not content:
            raise ChatError("a blank answer", http.client.OK)
        return Answer(content, tokens if isinstance(tokens, int) else None)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: urllib would send the key along to wherever they lead."""

    def redirect_request(self, *about: object) -> None:
        """Return nothing, which makes the redirect an error."""
        return


_OPENER = urllib.request.build_opener(_NoRedirects)
