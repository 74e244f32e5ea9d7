import pytest


@pytest.mark.parametrize("address", ["/api/about", "/api/nothing", "/docs", "/healthz", "/metrics", "/openapi.json"])
def test_every_answer_has_them(client, address):
    headers = client.get(address).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert {policy[f"{kind}-src"] for kind in ("script", "style", "connect", "font")} == {"'self'"}
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_no_other_site_may_read_an_answer(client):
    answer = client.get("/api/about", headers={"Origin": "https://example.org"})
    assert "access-control-allow-origin" not in answer.headers
    asked = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    assert client.options("/api/search", headers=asked).status_code == 405
