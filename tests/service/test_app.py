"""The page's files as they are served, and that nothing beside them is."""

import pytest


@pytest.fixture
def page_client(serve, tmp_path, monkeypatch):
    """Return a client of a service with a small page."""
    page = tmp_path / "page"
    (page / "js").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>§</title>", encoding="utf-8")
    (page / "reference.html").write_text("<!doctype html><title>API</title>")
    (page / "js" / "main.js").write_text("export {};")
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setattr("statgraph.service.app.PAGE", page)
    return serve()


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/?q=deposit", "text/html; charset=utf-8"),
        ("/docs", "text/html; charset=utf-8"),
        ("/static/js/main.js", "javascript"),
    ],
)
def test_the_page_is_kept_but_asked_about(page_client, address, kind):
    answer = page_client.get(address)
    assert answer.status_code == 200
    assert kind in answer.headers["content-type"]
    assert answer.headers["cache-control"] == "no-cache"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_an_unchanged_file_is_not_sent_again(page_client):
    known = page_client.get("/static/js/main.js").headers["etag"]
    assert page_client.get("/static/js/main.js", headers={"If-None-Match": known}).status_code == 304


def test_the_page_answers_head(page_client):
    answer = page_client.head("/")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "address", ["/static/gone.js", "/static/", "/static/js", "/static/%2e%2e/secret.txt", "/static/..%2fsecret.txt"]
)
def test_there_is_nothing_beside_the_page(page_client, address):
    answer = page_client.get(address)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
