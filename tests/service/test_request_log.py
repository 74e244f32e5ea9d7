"""What is logged and counted of a request, and what is not."""

import asyncio
import json

import pytest

from statgraph.service.request_log import Metrics, RequestLog


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
    assert set(log[0]) == {"time", "method", "path", "status", "ms", "bytes"}
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
def test_an_unheard_of_method_or_address_is_one_figure(method):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 404, "headers": []})

    async def send(message):
        pass

    metrics = Metrics()
    lines = []
    logged = RequestLog(app, write=lines.append, metrics=metrics, log_questions=False)
    asyncio.run(logged({"type": "http", "method": method, "path": "/x\n\x1b"}, None, send))
    shown = method if method == "GET" else "other"
    assert f'statgraph_requests_total{{method="{shown}",route="other",status="404"}} 1.0' in metrics.text().decode()
    assert "\n" not in lines[0]
    assert "\x1b" not in lines[0]


def test_two_services_count_apart():
    one, other = Metrics(), Metrics()
    one.answered(method="GET", route="/", status=200, seconds=0.003)
    one.answered(method="GET", route="/", status=200, seconds=0.2)
    one.batches.observe(3)
    one.waiting.set_function(lambda: 7)
    lines = one.text().decode().splitlines()
    for line in (
        'statgraph_requests_total{method="GET",route="/",status="200"} 2.0',
        'statgraph_request_seconds_bucket{le="0.005",route="/"} 1.0',
        'statgraph_request_seconds_bucket{le="0.25",route="/"} 2.0',
        'statgraph_batch_questions_bucket{le="2.0"} 0.0',
        'statgraph_batch_questions_bucket{le="4.0"} 1.0',
        "statgraph_questions_waiting 7.0",
        "statgraph_ready 0.0",
    ):
        assert line in lines
    assert "statgraph_requests_total{" not in other.text().decode()
