"""Requests that are nearly HTTP, and bodies that are nearly what the service takes."""

from __future__ import annotations

import json
import random

_HEAD = b"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
_LONG = 1 << 20
_VALUES = (
    *(
        None,
        True,
        -1,
        0,
        1.5,
        2**63,
        1e308,
        "",
        " ",
        "x" * 3000,
        "\x00",
        "a\nb",
        "\u202e",
        "../..",
        "\ud800",
        "<script>",
    ),
    *([], [[]], [None], {}, {"": {}}, ["a"] * 200),
)
_METHODS = (
    b"GET",
    b"HEAD",
    b"PUT",
    b"DELETE",
    b"OPTIONS",
    b"TRACE",
    b"CONNECT",
    b"PATCH",
    b"BREW",
    b"get",
    b"\x00",
    b"",
)
_PATHS = (
    *(b"/api/articles/", b"/api/headings/", b"/api/graph/", b"/static/", b"/", b"/docs", b"/metrics", b"/api/search"),
    *(b"http://other.host/api/about", b"*", b"//", b"/?", b"/api/articles/%00", b"/api/graph/x?hops=%ff"),
)
_ODD_PATHS = (
    *(
        b"..%2f" * 8 + b"etc/passwd",
        b"../" * 8 + b"etc/passwd",
        b"%2e%2e/" * 8 + b"etc/passwd",
        b"%c0%ae%c0%ae/",
        b"%00",
    ),
    *(
        b"%ff%fe",
        b"\xe2\x80\xae",
        b"%ed%a0%80",
        b"a" * 70_000,
        b"%",
        b"%zz",
        b"a?b?c#d",
        b"..;/",
        b"\\..\\..\\",
        b"+" * 99,
    ),
)


def odd_request(rng: random.Random) -> tuple[str, bytes, bool]:
    """Return what is odd about a request, its bytes, and whether the client ends its side after them."""
    make = rng.choice((_wrong_values, _wrong_bytes, _wrong_headers, _wrong_framing, _wrong_line, _wrong_paths))
    return make.__name__.strip("_").replace("_", " "), make(rng), rng.random() < 0.3


def _sent(body: bytes, *headers: bytes) -> bytes:
    lines = [*headers, b"Content-Length: %d" % len(body), b"Connection: close", b"", b""]
    return _HEAD + b"\r\n".join(lines) + body


def _wrong_values(rng: random.Random) -> bytes:
    asked: dict[str, object] = {"question": "May I keep dogs?"}
    for _ in range(rng.randint(1, 3)):
        name = rng.choice(("question", "k", "codes", "heading", "as_of", "explain", "other", ""))
        asked[name] = rng.choice(_VALUES)
    return _sent(json.dumps(asked).encode())


def _wrong_bytes(rng: random.Random) -> bytes:
    text = '{"question": "é"}'
    bodies: tuple[bytes, ...] = (
        *(text.encode("utf-16"), text.encode("latin-1"), b"\xef\xbb\xbf" + text.encode(), b"\xff" * 99, b"\x00" * 99),
        *(
            b'{"question": "\xed\xa0\x80"}',
            b'{"question": "\xc0\xae"}',
            b'{"question": "\\ud800"}',
            b"",
            b"null",
            b"[]",
        ),
        *(
            b"[" * 60_000,
            b'{"a":' * 10_000,
            b'{"k": ' + b"9" * 60_000 + b"}",
            b'{"k": NaN}',
            b'{"k": 1e999}',
            b'{"question"',
        ),
        *(
            b'{"question": "a", "question": "b"}',
            b"x" * (1 << 17),
            b'{"question": "' + b"x" * 65_000 + b'"}',
            rng.randbytes(99),
        ),
    )
    return _sent(rng.choice(bodies))


def _wrong_headers(rng: random.Random) -> bytes:
    headers: tuple[bytes, ...] = (
        *(
            b"X: " + b"x" * _LONG,
            b"\r\n".join(b"X%d: y" % n for n in range(5000)),
            b"X" * 70_000 + b": y",
            b": y",
            b"X",
        ),
        *(b"X : y", b"X:\x00", b" X: y", b"X: \xff\xfe", b"Cookie: " + b"a=b; " * 3000, b"Accept-Encoding: gzip, \xe9"),
        *(b"Content-Type: application/xml", b"Content-Type: text/plain", b"Content-Type: " + b"a/" * 999, b"Host: y"),
        *(
            b"Authorization: Bearer \xff",
            b"Expect: 100-continue",
            b"Expect: 200-maybe",
            b"Upgrade: websocket\r\nConnection: upgrade",
        ),
        *(
            b"Content-Encoding: gzip",
            b"Range: bytes=0-",
            b"If-None-Match: *",
            b"X-Forwarded-For: ::1",
            b"X: y\r\n folded",
        ),
    )
    return _sent(b'{"question": "May I keep dogs?"}', rng.choice(headers))


def _wrong_framing(rng: random.Random) -> bytes:
    body = b'{"question": "a"}'
    framed: tuple[bytes, ...] = (
        *(b"Content-Length: -1", b"Content-Length: 1e3", b"Content-Length: 99999999999999999999", b"Content-Length: "),
        *(
            b"Content-Length: 17\r\nContent-Length: 18",
            b"Content-Length: 17\r\nTransfer-Encoding: chunked",
            b"Content-Length: +17",
        ),
        *(b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: \x0bchunked", b""),
    )
    chunks: tuple[bytes, ...] = (
        *(
            b"zz\r\n",
            b"-1\r\n\r\n",
            b"ffffffffffffffffff\r\n",
            b"5\r\nabcdefgh\r\n",
            b"0\r\nX: y\r\n\r\n",
            b"1;" + b"x" * 70_000,
        ),
        *(b"11\r\n" + body + b"\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", b"1\r\n{\r\n" * 9),
    )
    if rng.random() < 0.5:
        return _HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + rng.choice(chunks)
    return _HEAD + rng.choice(framed) + b"\r\n\r\n" + body


def _wrong_line(rng: random.Random) -> bytes:
    lines: tuple[bytes, ...] = (
        *(
            b"GET / HTTP/9.9",
            b"GET / HTTP/1.0",
            b"GET /",
            b"GET  /  HTTP/1.1",
            b"PRI * HTTP/2.0",
            b"\x16\x03\x01\x02\x00",
            b"\r\n" * 99,
        ),
        *(b"GET /" + b"a" * _LONG + b" HTTP/1.1", b"GET / HTTP/1.1\rX: y", rng.randbytes(200), b"GET \xff HTTP/1.1"),
    )
    methods = rng.choice(_METHODS) + b" " + rng.choice(_PATHS) + b" HTTP/1.1"
    return rng.choice((*lines, methods, methods, methods)) + b"\r\nHost: x\r\nConnection: close\r\n\r\n"


def _wrong_paths(rng: random.Random) -> bytes:
    path = rng.choice(_PATHS) + rng.choice(_ODD_PATHS)
    return b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
