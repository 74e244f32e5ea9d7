"""The bearer token: what asks for it, what does not, and what counts as it."""

import pytest

from statgraph.service.access import BearerToken

TOKEN = "a long secret é"


@pytest.fixture(scope="module")
def guarded(library, tmp_path_factory):
    """Return a client of a service with a token."""
    from fastapi.testclient import TestClient

    from statgraph.service.app import create_app
    from statgraph.service.config import ServiceConfig
    from statgraph.service.desk import Desk

    desk = Desk(ServiceConfig(token="secret", feedback=tmp_path_factory.mktemp("marks") / "f.jsonl"))
    desk.open(library)
    return TestClient(create_app(desk, write_log=lambda line: None), raise_server_exceptions=False)


@pytest.mark.parametrize(
    "address", ["/api/about", "/api/articles/H1", "/api/headings", "/metrics", "/api/nothing", "/staticx", "//healthz"]
)
def test_without_the_token_there_is_nothing(guarded, address):
    answer = guarded.get(f"http://testserver{address}")
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert answer.headers["www-authenticate"] == 'Bearer realm="statgraph"'


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/docs", "/docs/style.css", "/openapi.json"])
def test_health_and_reference_are_open(guarded, address):
    assert guarded.get(address).status_code == 200


@pytest.mark.parametrize("address", ["/", "/static/nothing.js"])
def test_the_page_is_open(guarded, address):
    assert guarded.get(address).status_code != 401


@pytest.mark.parametrize("given", ["Bearer secret", "bearer secret", "Bearer  secret "])
def test_the_token_opens(guarded, given):
    assert guarded.get("/api/about", headers={"Authorization": given}).status_code == 200


@pytest.mark.parametrize(
    "given", ["Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic secret", "secret", "Bearer s\u00e9cret"]
)
def test_anything_else_does_not(guarded, given):
    assert guarded.get("/api/about", headers={"Authorization": given.encode("latin-1")}).status_code == 401


def test_a_token_beyond_ascii_fits_in_utf_8():
    from starlette.datastructures import Headers

    sent = Headers(raw=[(b"authorization", f"Bearer {TOKEN}".encode())])
    assert BearerToken(None, token=TOKEN)._fits(sent)
    assert not BearerToken(None, token="a long secret e")._fits(sent)
