"""A chat endpoint on loopback: a server of a few lines."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


def said(content, **usage):
    """Return the body of an answer."""
    return {"choices": [{"message": {"role": "assistant", "content": content}}], **({"usage": usage} if usage else {})}


@pytest.fixture
def endpoint(monkeypatch):
    """Return a function that starts an endpoint, and returns its URL and what it is sent, a list.

    It answers with one status and body, or with what `answer` returns for each request: (status, body, headers).
    """
    for name in ("STATGRAPH_REWRITE_KEY", "STATGRAPH_CHAT_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    servers = []

    def start(status=200, body=None, answer=None, **headers):
        sent = []

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                sent.append((self.path, asked, self.headers.get("Authorization")))
                code, content, more = answer(asked) if answer else (status, body, headers)
                self.send_response(code)
                for name, value in more.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content if isinstance(content, bytes) else json.dumps(content).encode())

            def log_message(self, *about):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/v1", sent

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
