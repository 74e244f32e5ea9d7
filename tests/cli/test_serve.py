"""`statgraph serve` as a process, from its first line to its exit status, and what it refuses."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from statgraph import serve
from statgraph.cli.main import cli
from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus
from statgraph.service.config import PageConfig

pytest.importorskip("fastapi", reason="the service needs the extra 'serve'")

REPO = Path(__file__).parents[2]
WAIT_S = 60


def test_a_service_from_start_to_stop(bm25_run, tmp_path):
    marks = tmp_path / "marks.jsonl"
    command = [sys.executable, str(REPO / "cli.py"), "serve", "--run", bm25_run, "--port", "0", "--feedback", marks]
    environment = {**os.environ, "STATGRAPH_TOKEN": "secret"}
    with (
        (tmp_path / "log").open("w+") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as process,
    ):
        try:
            line = process.stdout.readline()
            announced = re.fullmatch(rf"Serving {re.escape(str(bm25_run))} at http://127\.0\.0\.1:(\d+)\n", line)
            port = int(announced[1])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
            assert _status(connection, "GET", "/readyz") == 200
            headers = {"Authorization": "Bearer secret", "Content-Type": "application/json"}
            mark = json.dumps({"question": "May I keep my dogs?", "article_id": "dogs1", "right": True})
            process.send_signal(signal.SIGHUP)
            assert process.stdout.readline() == f"Serving {bm25_run} as it is now\n"
            assert _status(connection, "POST", "/api/feedback", mark) == 401
            assert _status(connection, "POST", "/api/feedback", mark, headers) == 201
            connection.close()
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as no_http:
                no_http.sendall(b"no HTTP\r\n\r\n")
                assert no_http.recv(12) == b"HTTP/1.1 400"
            # A request under way: its body is only half there when the service is told to end.
            body = json.dumps({"question": "May I keep my dogs?", "k": 1}).encode()
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as under_way:
                asked = {**headers, "Content-Length": len(body), "Expect": "100-continue"}
                lines = [f"{name}: {value}" for name, value in asked.items()]
                under_way.sendall("\r\n".join(["POST /api/search HTTP/1.1", "Host: x", *lines, "", ""]).encode())
                assert under_way.recv(100).startswith(b"HTTP/1.1 100 ")  # it is being read
                under_way.sendall(body[:10])
                _wait_for_refusal(process, port)
                under_way.sendall(body[10:])
                answer = http.client.HTTPResponse(under_way)
                answer.begin()
                assert (answer.status, json.loads(answer.read())["hits"][0]["article_id"]) == (200, "dogs2")
            assert process.wait(WAIT_S) == 0
            assert process.stdout.read() == ""
        finally:
            process.kill()
        log.seek(0)
        logged = [json.loads(line) for line in log]
    assert [(line.get("path"), line.get("status")) for line in logged] == [
        ("/readyz", 200), ("/api/feedback", 401), ("/api/feedback", 201), (None, None), ("/api/search", 200),
    ]  # fmt: skip
    assert (logged[3]["level"], logged[3]["message"]) == ("warning", "Invalid HTTP request received.")
    assert json.loads(marks.read_text())["article_id"] == "dogs1"


def test_a_change_is_served_at_once_by_http_and_by_a_command(run_here, bm25_run, tmp_path):
    run = shutil.copytree(bm25_run, tmp_path / "run")
    command = [sys.executable, str(REPO / "cli.py"), "serve", "--run", run, "--port", "0", "--editable"]
    environment = {**os.environ, "STATGRAPH_TOKEN": "secret"}
    headers = {"Authorization": "Bearer secret", "Content-Type": "application/json"}
    bells = json.dumps({"id": "bells", "text": "Bells ring at noon.", "path": ["Town Code"], "number": "7a"})
    question = json.dumps({"question": "When do bells ring?", "k": 1})
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as it:
        try:
            port = int(it.stdout.readline().rsplit(":", 1)[1])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
            assert _status(connection, "POST", "/api/articles", bells) == 401
            assert _status(connection, "POST", "/api/articles", bells, headers) == 201
            connection.request("POST", "/api/search", question, headers)
            (hit,) = json.loads(connection.getresponse().read())["hits"]
            assert (hit["article_id"], hit["number"]) == ("bells", "7a")
            assert run_here("runs", "remove", run, "--yes").returncode == 1
            assert run_here("remove", "bells", "--run", run).returncode == 0
            assert it.stdout.readline() == f"Serving {run} as it is now\n"
            connection.request("POST", "/api/search", question, headers)
            assert json.loads(connection.getresponse().read())["hits"] == []  # no word of the law any more
            assert run_here("runs", "remove", run, "--yes").stderr == (
                f"Error: {run}: 'statgraph serve' answers from it; stop that first\n"
            )
        finally:
            it.kill()


def test_each_of_several_laws_is_read_again_when_it_changes(run_here, bm25_run, tmp_path):
    other = shutil.copytree(bm25_run, tmp_path / "other")
    command = [sys.executable, str(REPO / "cli.py"), "serve", "--run", bm25_run, "--run", other, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as it:
        try:
            line = it.stdout.readline()
            assert line.startswith(f"Serving {bm25_run}, {other} at http://127.0.0.1:")
            connection = http.client.HTTPConnection("127.0.0.1", int(line.rsplit(":", 1)[1]), timeout=WAIT_S)
            assert run_here("remove", "dogs1", "--run", other).returncode == 0
            assert it.stdout.readline() == f"Serving {other} as it is now\n"
            assert _status(connection, "GET", "/api/articles/dogs1?law=other") == 404
            assert _status(connection, "GET", "/api/articles/dogs1?law=town") == 200
            mark = json.dumps({"question": "May I?", "article_id": "dogs2", "right": True, "law": "other"})
            assert _status(connection, "POST", "/api/feedback", mark, {"Content-Type": "application/json"}) == 201
            assert json.loads((other / "feedback.jsonl").read_text())["law"] == "town"
            assert run_here("runs", "remove", other, "--yes").returncode == 1
        finally:
            it.kill()


def test_who_may_edit_needs_a_token_and_the_runs_own_vectors(refused, bm25_run, monkeypatch):
    monkeypatch.delenv("STATGRAPH_TOKEN", raising=False)
    assert refused("serve", "--run", bm25_run, "--editable", code=2).startswith("--editable: needs a token;")
    monkeypatch.setenv("STATGRAPH_TOKEN", "secret")
    there = ("--engine", "lance", "--from", "vectors")
    assert refused("serve", "--run", bm25_run, "--editable", *there, code=2).startswith("--editable and --from: ")


def _status(connection, method, address, body=None, headers=None):
    connection.request(method, address, body, headers or {})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _wait_for_refusal(process, port):
    """Tell the service to end, and return once it takes no more connections."""
    process.send_signal(signal.SIGTERM)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=WAIT_S).close()
        except (ConnectionRefusedError, ConnectionResetError):  # reset: the socket closed while it connected
            return
        assert process.poll() is None


def test_a_port_in_use_is_refused(refused, bm25_run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused("serve", "--run", bm25_run, "--port", port) == (
            f"port {port} of 127.0.0.1 is in use; choose another with --port"
        )


def test_marks_that_cannot_be_kept_are_refused_before_the_run_is_loaded(refused, bm25_run, monkeypatch, tmp_path):
    monkeypatch.setattr("statgraph.service.server.serve", lambda *_, **__: pytest.fail("it began to serve"))
    (tmp_path / "marks").write_text("a file")
    assert refused("serve", "--run", bm25_run, "--feedback", "marks/f.jsonl", code=2) == (
        "--feedback marks/f.jsonl: cannot be written (Not a directory); name a file in an existing, writable folder"
    )


def test_marks_can_be_switched_off_and_are_not_kept_in_the_hubs_cache(bm25_run, monkeypatch, tmp_path):
    served = []
    monkeypatch.setattr("statgraph.service.server.serve", lambda runs, *_, **__: served.extend(runs.values()))
    for options in ([], ["--no-feedback"]):
        CliRunner().invoke(cli, ["serve", "--run", str(bm25_run), *options], catch_exceptions=False)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(bm25_run))
    for options in ([], ["--feedback", str(tmp_path / "marks.jsonl")]):
        CliRunner().invoke(cli, ["serve", "--run", "hf://court/law", *options], catch_exceptions=False)
    assert served == [bm25_run / "feedback.jsonl", None, None, tmp_path / "marks.jsonl"]
    served.clear()
    for options in ([], ["--feedback", str(tmp_path / "marks.jsonl")]):
        runs = ["--run", str(bm25_run), "--run", str(bm25_run.parent / "other")]
        CliRunner().invoke(cli, ["serve", *runs, *options], catch_exceptions=False)
    assert served[:2] == [run / "feedback.jsonl" for run in (bm25_run, bm25_run.parent / "other")]
    assert served[2:] == [tmp_path / "marks.jsonl"] * 2
    with pytest.raises(UsageError, match=r"^run: none is given; name a run, or its folder$"):
        serve([])


def test_the_page_gets_its_name_logo_contact_and_language(bm25_run, monkeypatch, tmp_path):
    pages = []
    monkeypatch.setattr("statgraph.service.server.serve", lambda runs, config, **options: pages.append(config.page))
    (tmp_path / "arms.svg").write_text("<svg/>")
    named = ["--name", "Town law", "--logo", str(tmp_path / "arms.svg"), "--contact", "a@b.example", "--language", "de"]
    for options in ([], named):
        CliRunner().invoke(cli, ["serve", "--run", str(bm25_run), *options], catch_exceptions=False)
    assert pages == [PageConfig(), PageConfig("Town law", tmp_path / "arms.svg", "a@b.example", "de")]


def test_the_example_of_the_docs_asks_the_sample_over_standard_input(
    write_run, doc_example, tmp_path, monkeypatch, capfd
):
    pytest.importorskip("mcp", reason="the command needs the extra 'mcp'")
    (tmp_path / "runs").mkdir()
    write_run(tmp_path / "runs" / "mine", read_corpus(sample_folder()), RunConfig(system="bm25", retriever="bm25"))
    command = tmp_path / "bin" / "statgraph"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{REPO / "cli.py"}" "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    names = doc_example("integrations.md", "Assistants")
    hits = names["found"].structured_content["articles"]
    assert [hit["rank"] for hit in hits] == [1, 2, 3, 4, 5]
    assert (hits[0]["title"], hits[0]["path"][0]) == ("Art. 24, Housing Code", "Housing Code")
    assert capfd.readouterr().out.startswith(f"1 {hits[0]['title']} {hits[0]['passage']}")
    assert names["around"].structured_content["article"]["article_id"] == hits[4]["article_id"]


def test_a_run_that_is_not_there_is_refused_to_assistants(refused):
    """Not in refusals.txt: where mcp is imported first, it keeps the standard error of that test for all others."""
    pytest.importorskip("mcp")
    assert refused("mcp", "--run", "gone") == "gone: no such run folder; train one with 'statgraph train'"
