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
_KINDS = ("flip", "cut", "remove", "repeat", "swap lines", "number", "token", "token", "value", "value")


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return data with one to four pieces of damage."""
    for _ in range(rng.randint(1, 4)):
        data = _damaged_once(data, rng.choice(_KINDS), rng)
    return data


def _damaged_once(data: bytes, kind: str, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    end = min(len(data), place + rng.choice((1, 2, 8, 64, 1024)))
    match kind:
        case "flip":
            return (
                data[:place]
                + bytes(byte ^ 1 << rng.randrange(8) for byte in data[place : place + 1])
                + data[place + 1 :]
            )
        case "cut":
            return data[:place]
        case "remove":
            return data[:place] + data[end:]
        case "repeat":
            return data[:end] + data[place:end] * rng.choice((1, 2, 50)) + data[end:]
        case "swap lines":
            lines = data.split(b"\n")
            return b"\n".join(rng.sample(lines, len(lines)))
        case "number":  # one of the first, which say how long what follows is
            place = rng.choice((0, 0, 4, 8, 12, 16, 20, 24, 32))
            number = struct.pack("<Q", rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)))
            return data[:place] + number[: rng.choice((4, 8))] + data[place + 8 :]
        case "value" if (changed := _value_replaced(data, rng)) is not None:
            return changed
    return data[:place] + rng.choice(TOKENS) + data[rng.choice((place, end)) :]


def _value_replaced(data: bytes, rng: random.Random) -> bytes | None:
    """Return a JSON document, or data with a line of JSON, in which a value is another; None where there is no JSON."""
    lines = data.split(b"\n")
    number = rng.randrange(len(lines))
    for before, text, after in (([], data, []), (lines[:number], lines[number], lines[number + 1 :])):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return b"\n".join([*before, json.dumps(_altered(value, rng)).encode(), *after])
    return None


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
