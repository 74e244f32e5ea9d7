"""Symbols and equations of word processors, which are no text in their files."""

from __future__ import annotations

import re
from typing import Any

from statgraph.law.raised import fraction, raised

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# Of the font Symbol, whose letters are Greek.
_GREEK = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
)
_SYMBOLS = dict(zip("°±²³´µ¶·¸¹º»¢£¥ÅÎÖ×ØÙÚÛÞ®¬-åÕò", "°±″≥×∝∂•÷≠≡≈′≤∞⊕∈√⋅¬∧∨⇔⇒→←−∑∏∫", strict=True))
_WINGDINGS = dict(zip("¨oþýüû§làØ", "◻□☑☒✓✗▪●→➢", strict=True))
_FONTS = {"Symbol": _GREEK | _SYMBOLS, "Wingdings": _WINGDINGS}


def symbol(code: str, font: str) -> str:
    """Return the character that a code in hexadecimal stands for in a font; "□" where it is a picture."""
    number = int(code, 16) if re.fullmatch("[0-9A-Fa-f]{1,5}", code) else 0
    if not 0xE000 <= number < 0xF900:
        return chr(number) if number else ""
    sign, is_picture = chr(number & 0xFF), "dings" in font
    return _FONTS.get(font, {}).get(sign, "□" if is_picture or not sign.isprintable() else sign)


def formula(element: Any) -> str:
    """Return an equation of a word processor on one line: "x=5/2", "√(r²)"."""
    children = [child for child in element if isinstance(child.tag, str)]
    texts = [formula(child) for child in children]
    tag = _name(element)
    if tag == "t":
        return element.text or ""
    part = {_name(child): text for child, text in zip(children, texts, strict=True)}
    inner = [text for child, text in zip(children, texts, strict=True) if _name(child) in ("e", "mr")]
    if tag == "f":
        return fraction(part.get("num", ""), part.get("den", ""))
    if tag in ("sSup", "sSubSup"):
        return f"{part.get('e', '')}{part.get('sub', '')}{raised(part.get('sup', ''))}"
    if tag == "nary":
        sign = _property(element, "naryPr/chr", "∫")
        return f"{sign}{part.get('sub', '')}{raised(part.get('sup', ''))} {part.get('e', '')}"
    if tag == "rad":
        return f"{raised(part.get('deg', ''))}√({part.get('e', '')})"
    if tag == "d":
        between = _property(element, "dPr/sepChr", "|").join(inner)
        return f"{_property(element, 'dPr/begChr', '(')}{between}{_property(element, 'dPr/endChr', ')')}"
    if tag in ("m", "mr"):
        return ("; " if tag == "m" else ", ").join(inner)
    return "".join(texts)


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _property(element: Any, path: str, otherwise: str) -> str:
    found = element.find("/".join(f"{M}{name}" for name in path.split("/")))
    return otherwise if found is None else found.get(f"{M}val", otherwise)
