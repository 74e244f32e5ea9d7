"""Errors of the service as RFC 9457 problem details (`application/problem+json`), and their place in OpenAPI."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from statgraph.service.schemas import Problem

MEDIA_TYPE = "application/problem+json"
# Any request may be refused with these before its route is reached.
EVERYWHERE = (401, 408, 413, 421, 500)
_MEANINGS = {
    400: "The body is not JSON.",
    401: "The service requires a token.",
    403: "The service changes no articles.",
    404: "Not found.",
    408: "The body did not arrive in time.",
    409: "An article of this id is there already, or another process changes the run.",
    413: "The body is too long.",
    421: "The request names another host.",
    422: "A value is invalid.",
    500: "A bug in the service.",
    503: "The run is still loading, or too many questions are in progress: retry after Retry-After.",
    504: "The search took too long.",
    507: "The disk cannot be written, or the feedback file is full.",
}
_REFERENCE = {"$ref": "#/components/schemas/Problem"}
_REMEDIES = {
    "string_pattern_mismatch": "not a date; give a date as YYYY-MM-DD",  # dates alone have a pattern
    "value_error": "not a day of the calendar; give a date as YYYY-MM-DD",
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
    """Return the answer that reports a problem; `errors` lists the invalid fields."""
    problem: dict[str, object] = {
        "type": "about:blank",  # RFC 9457, section 4.2.1: the status says all there is to say of the kind
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if errors is not None:
        problem["errors"] = list(errors)
    # Escaped to ASCII: a detail may quote half a character of a wrong value.
    return Response(json.dumps(problem), status, dict(headers or {}), MEDIA_TYPE)


def invalid_field(error: Mapping[str, Any], *, content_type: str) -> dict[str, str]:
    """Return the place and the detail of an invalid field, as `Problem.errors` lists them, from pydantic's report: a
    body whose content type is not JSON is not read as such."""
    place, detail = ".".join(map(str, error["loc"])), _REMEDIES.get(error["type"], error["msg"])
    if error["type"] == "json_invalid":
        _, position = error["loc"]
        place, detail = "body", f"broken JSON at character {position + 1} ({error['ctx']['error']}); send a JSON object"
    elif place == "body" and error["type"] != "missing" and not _is_json(content_type):
        detail = "not declared as JSON; send it with the header Content-Type: application/json"
    elif place == "body":
        detail = "not a JSON object; send one"
    return {"place": place, "detail": detail}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return FastAPI's `responses` for these errors and for those that any request may meet."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"description": _MEANINGS[status], "content": {MEDIA_TYPE: {"schema": _REFERENCE}}}
        for status in sorted({*statuses, *EVERYWHERE})
    }
    if 503 in responses:
        responses[503]["headers"] = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
    return responses


def add_problem_schema(document: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI document that defines what the errors refer to."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    return document


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))
