"""Damage to files: bytes and lines altered, cut, repeated and swapped, JSON values and whole headers replaced."""

from __future__ import annotations

import json
import random
import struct

# What parsers stumble over.
TOKENS = (
    *rb"""null true -1 1e999 NaN Infinity [] {} "" "\ud800" "\u0000" 0x1p3 " , ; \ ../../../etc/passwd %s%n""".split(),
    *(b"[" * 2000, b'{"a":' * 2000, b"9" * 5000, b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1a", b"\t", b"\r", b"\n\n"),
    *(b" > ", b"<script>", b"&#x110000;", "é\u202e𝔘".encode("utf-16")),
)
VALUES = (
    *(None, True, -1, 0, 2**63, 10**400, 1e308, "", " ", "x" * 100_000, "\x00", "a\nb", "\u202e", "../..", "id\x1bid"),
    *([], [[]], [None], ["a", 1, None], {}, {"": {}}, [[[[[[]]]]]]),
)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return data with one to four pieces of damage."""
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(_KINDS)(data, rng)
    return data


def _flipped(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return b"\x00"
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _without(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeated(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def _with_token(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng) if rng.random() < 0.5 else (rng.randrange(len(data) + 1),) * 2
    return data[:start] + rng.choice(TOKENS) + data[end:]


def _lines_swapped(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _value_replaced(data: bytes, rng: random.Random) -> bytes:
    """Replace a value in a JSON document or in a line of JSON."""
    lines = data.split(b"\n")
    number = rng.randrange(len(lines))
    try:
        value = json.loads(data)
        number = None
    except (ValueError, RecursionError):
        try:
            value = json.loads(lines[number])
        except (ValueError, RecursionError):
            return _with_token(data, rng)
    text = json.dumps(_altered(value, rng)).encode()
    if number is None:
        return text
    lines[number] = text
    return b"\n".join(lines)


def _altered(value: object, rng: random.Random) -> object:
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(sorted(value))
        if rng.random() < 0.15:
            return {name: held for name, held in value.items() if name != key}
        return {**value, key: _altered(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        return [*value[:place], _altered(value[place], rng), *value[place + 1 :]]
    return rng.choice(VALUES)


def _number_at_the_start(data: bytes, rng: random.Random) -> bytes:
    """Replace one of the first numbers, which say how long what follows is."""
    place = rng.choice((0, 0, 4, 8, 12, 16, 20, 24, 32))
    number = struct.pack("<Q", rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)))
    return data[:place] + number[: rng.choice((4, 8))] + data[place + 8 :]


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 1024)))


_KINDS = (
    *(_flipped, _cut, _without, _repeated, _lines_swapped, _number_at_the_start),
    *(_with_token, _with_token, _value_replaced, _value_replaced),
)
