"""Files of office programs, which are zip archives of XML: their elements, and the symbols and equations in them."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

from statgraph.errors import reason_of
from statgraph.law.raised import fraction, raised

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MAX_UNPACKED_BYTES = 512 << 20
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
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


def archive_problem(path: Path, part: str) -> str:
    """Return why a file is no archive with a part, such as "word/document.xml", that can be unpacked; "" if it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        with path.open("rb") as file:
            if file.read(len(_OLD_OFFICE)) == _OLD_OFFICE:
                return f"is protected by a password or of an old format; open it and save it as {path.suffix}"
        return f"is damaged ({reason_of(error)}); save it again"
    if part not in sizes:
        return f"holds no {part}, as a file that ends in {path.suffix} should; save it again"
    unpacked = sum(sizes.values())
    if unpacked > MAX_UNPACKED_BYTES:
        return f"unpacks to {unpacked >> 20:,} MiB, and at most {MAX_UNPACKED_BYTES >> 20} are read; split it"
    return ""


def find(element: Any, path: str) -> Any:
    """Return the element of a word processor's file that is below another, such as "pPr/numPr", or None."""
    return element.find("/".join(f"{W}{name}" for name in path.split("/")))


def value(element: Any, path: str) -> str:
    """Return the value of an element below another; "" if it has none."""
    found = find(element, path)
    return "" if found is None else found.get(f"{W}val") or ""


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
