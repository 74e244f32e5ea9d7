"""Errors of the service as RFC 9457 problem details: `application/problem+json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class ProblemError(Exception):
    """An error with the status and the line that a client gets."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


def problem_response(
    status: int,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, object]] | None = None,
) -> Response:
    """Return the answer that tells a problem; `errors` lists the fields that do not fit."""
    problem: dict[str, object] = {
        "type": "about:blank",  # RFC 9457, section 4.2.1: the status says all there is to say of the kind
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if errors is not None:
        problem["errors"] = list(errors)
    # Escaped to ASCII: what is said of a wrong value may quote half a character.
    return Response(json.dumps(problem), status, dict(headers or {}), MEDIA_TYPE)
