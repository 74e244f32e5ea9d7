"""Who may ask: an optional bearer token (RFC 6750) before all but the page, the reference and the health
checks."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from statgraph.service.problems import problem_response

# The page asks its reader for the token, so it must load without one; what can be asked is no secret.
OPEN_PATHS = ("/", "/healthz", "/readyz", "/docs", "/docs/style.css", "/openapi.json")
OPEN_FOLDER = "/static/"


class BearerToken:
    """Answers 401 to a request without the token."""

    def __init__(self, app: ASGIApp, *, token: str):
        self._app = app
        self._token = token.encode("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_open(scope["path"]) or self._fits(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        answer = problem_response(
            401,
            "this service asks for its token; send it as 'Authorization: Bearer TOKEN'",
            headers={"WWW-Authenticate": 'Bearer realm="statgraph"'},
        )
        await answer(scope, receive, send)

    def _fits(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip().encode("latin-1")  # the bytes as they were sent
        return scheme.lower() == "bearer" and secrets.compare_digest(given, self._token)


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)
