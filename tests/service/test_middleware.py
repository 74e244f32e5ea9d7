"""What every request passes through: security headers, the bearer token, the bound on bodies, the log, the counts."""

import asyncio
import json

import pytest
from fastapi.testclient import TestClient

from statgraph.errors import UsageError
from statgraph.service.app import create_app
from statgraph.service.config import ServiceConfig
from statgraph.service.laws import ServedLaw
from statgraph.service.middleware import Gate, Metrics, RequestLog


@pytest.fixture(scope="module")
def guarded(make_client):
    """Return a client of a service with a token."""
    return make_client(token="secret")


@pytest.mark.parametrize(
    "address", ["/api/about", "/api/articles/H1", "/api/headings", "/metrics", "/api/nothing", "/staticx", "//healthz"]
)
def test_without_the_token_there_is_nothing(guarded, address):
    answer = guarded.get(f"http://testserver{address}")
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert answer.headers["www-authenticate"] == 'Bearer realm="statgraph"'


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/docs", "/openapi.json", "/", "/static/nothing.js"])
def test_health_reference_and_page_are_open(guarded, address):
    assert guarded.get(address).status_code == (404 if address.endswith(".js") else 200)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        *((given, 200) for given in ("Bearer secret", "bearer secret", "Bearer  secret ")),
        *((given, 401) for given in ("Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic secret", "secret")),
        ("Bearer s\u00e9cret", 401),
    ],
)
def test_the_token_and_nothing_else_opens(guarded, given, status):
    answer = guarded.get("/api/about", headers={"Authorization": given.encode("latin-1")})
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("token", "sent"),
    [("secret\n", "secret"), ("secret\r\n", "secret"), (" secret\t", "secret"), ("a long secret é", "a long secret é")],
)
def test_a_token_of_a_file_opens_without_its_line_end_and_in_utf_8(make_client, token, sent):
    headers = {"Authorization": f"Bearer {sent}".encode()}
    assert make_client(token=token).get("/api/about", headers=headers).status_code == 200


@pytest.mark.parametrize("token", ["\n", "  ", "sec\nret", "se\x00cret", "secret\r\nHost: x"])
def test_a_token_that_no_request_can_send_is_refused(token):
    with pytest.raises(UsageError, match=r"^STATGRAPH_TOKEN: blank, or has a line end"):
        ServiceConfig(token=token)


@pytest.fixture(scope="module")
def loopback(loaded_run):
    """Return a function from a token to a client of a service that only this machine reaches."""

    def make(token=None):
        law = ServedLaw("village", ServiceConfig(token=token), Metrics())
        law.open(loaded_run)
        return TestClient(create_app([law], loopback=True))

    return make


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(
            (host, 200)
            for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:8000", "127.1.2.3", "[::1]:8000", "[::1]")
        ),
        *((host, 421) for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.1.2", "")),
        *((host, 421) for host in ("localhost.evil.example", "x@evil.example", "[::1", "localhost:80@evil.example")),
    ],
)
def test_without_a_token_no_other_host_is_answered_for(loopback, host, status):
    """A page of evil.example whose name leads to 127.0.0.1 is of the same origin as the service (DNS rebinding)."""
    answer = loopback().get("/api/about", headers={"Host": host})
    assert (answer.status_code, "village" in answer.text) == (status, status == 200)
    assert loopback().get("/", headers={"Host": host}).status_code == status


def test_with_a_token_a_proxy_may_ask_by_any_name(loopback, client):
    headers = {"Host": "law.example", "Authorization": "Bearer secret"}
    assert loopback("secret").get("/api/about", headers=headers).status_code == 200
    assert client.get("/api/about", headers={"Host": "law.example"}).status_code == 200  # on an address for others


@pytest.mark.parametrize("token", [None, "secret"])
def test_a_length_said_twice_is_refused_and_ends_the_connection(make_client, token):
    headers = {"Content-Length": "3", "Transfer-Encoding": "chunked", "Content-Type": "application/json"}
    answer = make_client(token=token).post("/api/search", content=b"{}", headers=headers)
    assert (answer.status_code, answer.headers["connection"]) == (400, "close")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("address", ["/api/about", "/api/nothing", "/healthz", "/metrics", "/openapi.json"])
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


async def echo(scope, receive, send):
    """Answer with the body, as the application behind the bound reads it."""
    message = await receive()
    assert message["more_body"] is False
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def asked(chunks, *, length=None, stall=False, max_bytes=10, timeout_s=5.0):
    """Return (status, body, chunks left unread) of a request that arrives in chunks."""
    waiting, sent = list(chunks), []

    async def receive():
        if stall and not waiting:
            await asyncio.sleep(60)
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting) or stall}

    async def send(message):
        sent.append(message)

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    app = Gate(echo, token=None, local_only=False, max_bytes=max_bytes, timeout_s=timeout_s)
    asyncio.run(app({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent), len(waiting)


@pytest.mark.parametrize("chunks", [[b""], [b"1234567890"], [b"12345", b"", b"67890"]])
def test_a_short_body_arrives_in_one(chunks):
    assert asked(chunks) == (200, b"".join(chunks), 0)


@pytest.mark.parametrize(
    ("chunks", "options", "status", "unread", "said"),
    [
        ([b"x"], {"length": 11}, 413, 1, "longer than 10 bytes"),
        ([b"12345", b"678901", b"x", b"x"], {}, 413, 2, "longer than 10 bytes"),
        ([b"12345678901"], {"length": 3}, 413, 0, "longer than 10 bytes"),
        ([b"1"], {"stall": True, "timeout_s": 0.01}, 408, 0, "Request Timeout"),
    ],
    ids=["it says so", "read up to the bound", "a length that is a lie", "it does not arrive"],
)
def test_a_body_that_is_too_long_or_does_not_arrive(chunks, options, status, unread, said):
    found, body, left = asked(chunks, **options)
    assert (found, left) == (status, unread)
    assert said in " ".join(map(str, json.loads(body).values()))


@pytest.mark.parametrize("chunked", [True, False])
def test_64_kib_are_the_bound_of_the_service(client, chunked):
    body = b'{"question": "deposit"' + b" " * (128 * 1024 - 23) + b"}"
    assert len(body) == 128 * 1024
    headers = {"Content-Type": "application/json"}

    def sent(content):
        return client.post(
            "/api/search", content=iter([content[:5], content[5:]]) if chunked else content, headers=headers
        )

    assert sent(body).status_code == 200
    answer = sent(body + b" ")
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert answer.headers["connection"] == "close"


def test_one_line_a_request_without_the_question(serve, log):
    client = serve()
    answer = client.post("/api/search", json={"question": "Who keeps it?", "k": 1})
    client.get("/api/articles/H9?q=Who+keeps+it")
    assert [(line["method"], line["path"], line["status"]) for line in log] == [
        ("POST", "/api/search", 200),
        ("GET", "/api/articles/H9", 404),
    ]
    assert log[0]["bytes"] == len(answer.content)
    assert log[0]["ms"] > 0
    assert set(log[0]) == {"time", "method", "path", "status", "ms", "bytes", "law"}
    assert "keeps" not in json.dumps(log)


def test_the_question_where_it_is_asked_for(serve, log):
    client = serve(log_questions=True)
    client.post("/api/search", json={"question": "Où ?"})
    client.get("/api/about")
    assert [line.get("question") for line in log] == ["Où ?", None]


def test_a_fault_is_a_problem_to_the_client_and_a_traceback_in_the_log(serve, log, loaded_run, monkeypatch):
    def fail(row):
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(loaded_run.articles, "read", fail)
    answer = serve().get("/api/articles/H1")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert answer.json()["detail"] == "this is a bug in statgraph; the service's log says more"
    assert answer.headers["x-content-type-options"] == "nosniff"
    (line,) = log
    assert line["status"] == 500
    assert "RuntimeError: the disk is gone" in line["error"]


@pytest.mark.parametrize("method", ["GET", "BREW"])
def test_an_unheard_of_method_or_address_is_one_figure(log, method):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 404, "headers": []})

    async def send(message):
        pass

    metrics = Metrics()
    logged = RequestLog(app, metrics=metrics, log_questions=False)
    asyncio.run(logged({"type": "http", "method": method, "path": "/x\n\x1b"}, None, send))
    shown = method if method == "GET" else "other"
    counted = {"method": shown, "route": "other", "status": "404", "law": ""}
    assert metrics.registry.get_sample_value("statgraph_requests_total", counted) == 1
    assert [line["path"] for line in log] == ["/x\n\x1b"]
