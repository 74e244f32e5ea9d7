"""Requests that are nearly HTTP, and bodies that are nearly what the service takes."""

from __future__ import annotations

import json
import random

_HEAD = b"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
_BODY = b'{"question": "May I keep dogs?"}'
_TEXT = '{"question": "é"}'
_LONG = 1 << 20
_VALUES = [
    *json.loads(
        r'[null, true, -1, 0, 1.5, 9223372036854775808, 1e308, "", " ", "\u0000", "a\nb", "\u202e", "../..", "\ud800",'
        r' "<script>", [], [[]], [null], {}, {"": {}}]'
    ),
    *("x" * 3000, ["a"] * 200),
]
_METHODS = [*b"GET HEAD PUT DELETE OPTIONS TRACE CONNECT PATCH BREW get \x00".split(), b""]
_PATHS = (
    b"/api/articles/ /api/headings/ /api/graph/ /static/ / /docs /metrics /api/search http://other.host/api/about * "
    b"// /? /api/articles/%00 /api/graph/x?hops=%ff"
).split()
_ODD_PATHS = [
    *(b"%c0%ae%c0%ae/ %00 %ff%fe \xe2\x80\xae %ed%a0%80 % %zz a?b?c#d ..;/ \\..\\..\\").split(),
    *(way * 8 + b"etc/passwd" for way in (b"..%2f", b"../", b"%2e%2e/")),
    *(b"a" * 70_000, b"+" * 99),
]
_BODIES = [
    *(_TEXT.encode("utf-16"), _TEXT.encode("latin-1"), b"\xef\xbb\xbf" + _TEXT.encode(), b"\xff" * 99, b"\x00" * 99),
    *(b'{"question": "\xed\xa0\x80"}', b'{"question": "\xc0\xae"}', b'{"question": "\\ud800"}', b"", b"null", b"[]"),
    *(b"[" * 60_000, b'{"a":' * 10_000, b'{"k": ' + b"9" * 60_000 + b"}", b'{"k": NaN}', b'{"k": 1e999}'),
    *(b'{"question"', b'{"question": "a", "question": "b"}', b"x" * (1 << 17), b'{"question": "' + b"x" * 65_000),
]
_HEADERS = [
    *(b"X: " + b"x" * _LONG, b"\r\n".join(b"X%d: y" % n for n in range(5000)), b"X" * 70_000 + b": y", b": y", b"X"),
    *(b"X : y", b"X:\x00", b" X: y", b"X: \xff\xfe", b"Cookie: " + b"a=b; " * 3000, b"Accept-Encoding: gzip, \xe9"),
    *(b"Content-Type: application/xml", b"Content-Type: text/plain", b"Content-Type: " + b"a/" * 999, b"Host: y"),
    *(b"Authorization: Bearer \xff", b"Expect: 100-continue", b"Expect: 200-maybe", b"Content-Encoding: gzip"),
    *(b"Upgrade: websocket\r\nConnection: upgrade", b"Range: bytes=0-", b"X-Forwarded-For: ::1", b"X: y\r\n folded"),
]
_LENGTHS = [
    *(b"Content-Length: " + length for length in (b"-1", b"1e3", b"99999999999999999999", b"", b"+17")),
    *(b"Content-Length: 17\r\nContent-Length: 18", b"Content-Length: 17\r\nTransfer-Encoding: chunked", b""),
    *(b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: \x0bchunked"),
]
_CHUNKS = [
    *(b"zz\r\n", b"-1\r\n\r\n", b"ffffffffffffffffff\r\n", b"5\r\nabcdefgh\r\n", b"0\r\nX: y\r\n\r\n"),
    *(b"1;" + b"x" * 70_000, b"1\r\n{\r\n" * 9),
    b'11\r\n{"question": "a"}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
]
_LINES = [
    *(b"GET / HTTP/9.9", b"GET / HTTP/1.0", b"GET /", b"GET  /  HTTP/1.1", b"PRI * HTTP/2.0", b"\x16\x03\x01\x02\x00"),
    *(b"\r\n" * 99, b"GET /" + b"a" * _LONG + b" HTTP/1.1", b"GET / HTTP/1.1\rX: y", b"GET \xff HTTP/1.1"),
]


def odd_request(rng: random.Random) -> tuple[str, bytes, bool]:
    """Return what is odd about a request, its bytes, and whether the client ends its side after them."""
    make = rng.choice((_wrong_values, _wrong_bytes, _wrong_headers, _wrong_framing, _wrong_line, _wrong_paths))
    return make.__name__.strip("_").replace("_", " "), make(rng), rng.random() < 0.3


def _sent(body: bytes, *headers: bytes) -> bytes:
    return _HEAD + b"\r\n".join([*headers, b"Content-Length: %d" % len(body), b"Connection: close", b"", body])


def _wrong_values(rng: random.Random) -> bytes:
    names = ("question", "k", "codes", "heading", "as_of", "explain", "other", "")
    wrong = {rng.choice(names): rng.choice(_VALUES) for _ in range(rng.randint(1, 3))}
    return _sent(json.dumps({"question": "May I keep dogs?", **wrong}).encode())


def _wrong_bytes(rng: random.Random) -> bytes:
    return _sent(rng.choice([*_BODIES, rng.randbytes(99)]))


def _wrong_headers(rng: random.Random) -> bytes:
    return _sent(_BODY, rng.choice(_HEADERS))


def _wrong_framing(rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return _HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + rng.choice(_CHUNKS)
    return _HEAD + rng.choice(_LENGTHS) + b'\r\n\r\n{"question": "a"}'


def _wrong_line(rng: random.Random) -> bytes:
    wrong_method = rng.choice(_METHODS) + b" " + rng.choice(_PATHS) + b" HTTP/1.1"
    line = rng.choice([*_LINES, rng.randbytes(200), *[wrong_method] * 3])
    return line + b"\r\nHost: x\r\nConnection: close\r\n\r\n"


def _wrong_paths(rng: random.Random) -> bytes:
    path = rng.choice(_PATHS) + rng.choice(_ODD_PATHS)
    return b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
