"""Dates and languages as official files write them, as ISO codes."""

from __future__ import annotations

import re
from datetime import date

_DATE = re.compile(r"(?P<y>\d{4})-?(?P<m>\d\d)-?(?P<d>\d\d)|(?P<D>\d\d?)[./](?P<M>\d\d?)[./](?P<Y>\d{4})")
_FIRST_YEAR, _LAST_YEAR = 1100, 2900  # dates outside stand for none
# ISO 639-2 codes with those of ISO 639-1.
_TWO_LETTERS = (
    "deu:de ger:de fra:fr fre:fr ita:it eng:en spa:es por:pt nld:nl dut:nl pol:pl jpn:ja fin:fi swe:sv "
    "dan:da ces:cs ell:el est:et gle:ga hrv:hr hun:hu lit:lt lav:lv mlt:mt ron:ro slk:sk slv:sl bul:bg "
    "nor:no isl:is roh:rm cym:cy ltz:lb zho:zh chi:zh kor:ko ukr:uk rus:ru tur:tr srp:sr "
)
_LANGUAGES = dict(pair.split(":") for pair in _TWO_LETTERS.split())


def iso_date(text: str) -> str:
    """Return the day that a text begins with as an ISO date: "20240131", "2024-01-31T00:00", "31.01.2024"; "" for none,
    and for those that stand for "always" and "never"."""
    match = _DATE.match(text.strip())
    if not match:
        return ""
    year, month, day = (int(match[a] or match[b]) for a, b in (("y", "Y"), ("m", "M"), ("d", "D")))
    try:
        return date(year, month, day).isoformat() if _FIRST_YEAR <= year < _LAST_YEAR else ""
    except ValueError:
        return ""


def language_code(text: str) -> str:
    """Return the ISO 639 code of "ita", "en-US", "EN" or an address that ends in one; "" for anything else."""
    last = re.split(r"[/#_\-]", text.strip().lower())
    code = last[-1] if "/" in text else last[0]
    code = _LANGUAGES.get(code, code)
    return code if re.fullmatch("[a-z]{2,3}", code) else ""
