from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from statgraph.errors import FetchError, UsageError
from statgraph.formats.download import download

BODY = b"Every dog is registered.\n" * 100


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.partition("?")[0]
        status = {"/missing": 404, "/moved": 302, "/away": 302}.get(name, 200)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/law" if name == "/moved" else "http://laws.example/law?key=1")
        if name in ("/law", "/short"):
            self.send_header("Content-Length", str(len(BODY) + (name == "/short")))
        self.end_headers()
        if status == 200:
            self.wfile.write(BODY)
        if name == "/slow":
            self.wfile.flush()
            self.server.released.wait(10)

    def log_message(self, *about):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        server.released = threading.Event()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.released.set()
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("page", ["law", "moved", "unannounced"])
def test_it_writes_the_file_and_returns_its_checksum(server, tmp_path, monkeypatch, page):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nothing listens there
    digest = hashlib.sha256(BODY).hexdigest()
    got = download(f"{server}/{page}", tmp_path / "law.txt", sha256=digest.upper(), max_bytes=len(BODY))
    assert got == digest
    assert [path.name for path in tmp_path.iterdir()] == ["law.txt"]
    assert (tmp_path / "law.txt").read_bytes() == BODY


@pytest.mark.parametrize(
    ("page", "options", "problem"),
    [
        ("missing?key=1", {}, "HTTP status 404"),
        ("law", {"max_bytes": len(BODY) - 1}, "larger than"),
        ("unannounced", {"max_bytes": len(BODY) - 1}, "larger than"),
        ("short", {}, "ended after 2,500 of 2,501 bytes"),
        ("law", {"sha256": "0" * 64}, "expected 0000"),
        ("away", {}, "redirects to http://laws.example, which is not https"),
        ("slow", {"timeout_s": 0.2}, "timed out"),
    ],
)
def test_a_failure_is_one_line_and_leaves_what_was_there(server, tmp_path, page, options, problem):
    (tmp_path / "law.txt").write_text("an older law")
    with pytest.raises(FetchError, match=problem) as caught:
        download(f"{server}/{page}", tmp_path / "law.txt", **options)
    assert "\n" not in str(caught.value)
    assert "key=1" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["law.txt"]
    assert (tmp_path / "law.txt").read_text() == "an older law"


def test_a_server_that_is_away_is_one_line(tmp_path):
    with pytest.raises(FetchError, match="cannot be downloaded"):
        download("http://127.0.0.1:1/law", tmp_path / "law.txt")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://laws.example/law", "not https"),
        ("ftp://laws.example/law", "not https"),
        ("file:///etc/passwd", "no host"),
        ("https://reader:secret@laws.example/law", "user name"),
        ("https://laws.example:port/law", "not a web address"),
    ],
)
def test_it_takes_https_alone(tmp_path, url, problem):
    with pytest.raises(UsageError, match=problem) as caught:
        download(url, tmp_path / "law.txt")
    assert "secret" not in str(caught.value)
