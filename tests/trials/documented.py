"""Requests that Schemathesis makes of the OpenAPI document, each of the answers leading to the next by its links."""

from __future__ import annotations

import random
from pathlib import Path

REQUESTS = 250  # of a case, at least
_SCENARIOS = 25


def requests_by_the_document(run: Path, folder: Path, rng: random.Random) -> tuple[int, list[str]]:
    """Return how many requests were made of a service of a run, and which answers are not as documented."""
    import hypothesis
    import schemathesis
    import schemathesis.checks

    from statgraph.service.app import create_app
    from statgraph.service.config import ServiceConfig
    from statgraph.service.loaded_run import LoadedRun
    from statgraph.service.state import ServiceState

    state = ServiceState(ServiceConfig(feedback=folder / "documented.jsonl"))
    state.open(LoadedRun(run, device="cpu"))
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(state, write_log=lambda line: None))
    checks = [
        schemathesis.checks.not_a_server_error,
        schemathesis.checks.status_code_conformance,
        schemathesis.checks.content_type_conformance,
        schemathesis.checks.response_schema_conformance,
        schemathesis.checks.negative_data_rejection,
    ]
    made = 0

    class Machine(schema.as_state_machine()):
        def validate_response(self, response, case, additional_checks=(), **options) -> None:
            nonlocal made
            made += 1
            case.validate_response(response, checks=checks)

    settings = hypothesis.settings(
        max_examples=_SCENARIOS,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    while made < REQUESTS:
        hypothesis.seed(rng.randrange(2**32))(Machine)
        try:
            Machine.run(settings=settings)
        except Exception as error:  # Schemathesis's failures, in groups or alone
            return made, [
                " / ".join(str(part).replace("\n", " ")[:500] for part in getattr(error, "exceptions", [error]))
            ]
    return made, []
