"""The errors of each address in the OpenAPI document."""

from __future__ import annotations

from statgraph.service.problems import MEDIA_TYPE
from statgraph.service.schemas import Problem

# Any request may be refused for these before its route is asked.
EVERYWHERE = (401, 408, 413, 500)
_MEANINGS = {
    400: "The body is no JSON.",
    401: "The service asks for its token.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    413: "The body is too long.",
    422: "A value does not fit.",
    500: "A fault of the service.",
    503: "The run is still being loaded, or too many questions are under way: come back after Retry-After.",
    504: "The search took too long.",
    507: "The feedback cannot be kept.",
}
_REFERENCE = {"$ref": "#/components/schemas/Problem"}


def documented(*statuses: int) -> dict[int | str, dict]:
    """Return FastAPI's `responses` for these errors and for those that any request may meet."""
    return {status: _response(status) for status in sorted({*statuses, *EVERYWHERE})}


def add_problem_schema(document: dict) -> dict:
    """Return an OpenAPI document that defines what the errors refer to."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    return document


def _response(status: int) -> dict:
    response: dict = {"description": _MEANINGS[status], "content": {MEDIA_TYPE: {"schema": _REFERENCE}}}
    if status == 503:
        response["headers"] = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
    return response
