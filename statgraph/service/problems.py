"""Errors of the service as RFC 9457 problem details: `application/problem+json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
_REMEDIES = {
    "string_pattern_mismatch": "no date; give a date as YYYY-MM-DD",  # dates alone have a pattern
    "no_such_day": "no day of the calendar; give a date as YYYY-MM-DD",
}


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


def unfit_fields(errors: Sequence[Mapping[str, Any]], *, content_type: str) -> list[dict[str, str]]:
    """Return the place and the detail of each field that does not fit, as `Problem.errors` lists them.

    Args:
        errors: as pydantic tells them.
        content_type: the header of the request: a body that is not said to be JSON is not read as such.
    """
    return [_unfit_field(error, content_type) for error in errors]


def _unfit_field(error: Mapping[str, Any], content_type: str) -> dict[str, str]:
    place, detail = ".".join(map(str, error["loc"])), _REMEDIES.get(error["type"], error["msg"])
    if error["type"] == "json_invalid":
        _, position = error["loc"]
        place, detail = "body", f"broken JSON at character {position + 1} ({error['ctx']['error']}); send a JSON object"
    elif place == "body" and error["type"] != "missing" and not _is_json(content_type):
        detail = "not said to be JSON; send it with the header Content-Type: application/json"
    elif place == "body":
        detail = "no JSON object; send one"
    return {"place": place, "detail": detail}


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))
