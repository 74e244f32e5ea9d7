"""The OpenAPI document against the service: Schemathesis makes the requests, and every answer must be as documented.

`STATGRAPH_API_CASES=2000` asks for at least so many in place of the hundred or so of the fast suite.
"""

import os
from collections import Counter
from contextlib import suppress
from math import ceil

import pytest

pytest.importorskip("schemathesis", reason="the API is tried by schemathesis (the extra 'dev')")

import schemathesis
import schemathesis.checks
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

OPERATIONS = 12
KINDS = 8  # five addresses take something, and three of them something that does not fit
CASES = int(os.environ.get("STATGRAPH_API_CASES", "120"))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.negative_data_rejection,
]


def test_every_answer_is_as_documented(make_client):
    app = make_client().app  # its own: Schemathesis starts and ends it
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == OPERATIONS
    tried = Counter()
    for operation in operations:
        for mode in GenerationMode:  # what fits the document, and what does not
            try_cases(operation.as_strategy(generation_mode=mode), tried)
    assert set(tried) == {operation.label for operation in operations}
    assert tried.total() >= CASES


def try_cases(cases, tried: Counter) -> None:
    """Make requests, count them by address, and check every answer."""

    @given(case=cases)
    @settings(
        max_examples=ceil(CASES / KINDS),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def answers(case):
        tried[case.operation.label] += 1
        case.call_and_validate(checks=CHECKS)

    with suppress(Unsatisfiable):  # an address without parameters takes nothing that does not fit
        answers()
