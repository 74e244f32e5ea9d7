"""What print raises or stacks, as text on one line: "Art. 22¹", "10⁻⁶", "1er", "5/2"."""

from __future__ import annotations

import re

_RAISED = str.maketrans("0123456789+-\u2212=()n*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ*")
_RAISABLE = re.compile(r"[\d+\u2212=()n*-]+(?:[,;]?\s*[\d+\u2212=()n*-]+)*", re.ASCII)
_OF_A_WORD = re.compile(r"(?:[^\W\d_]{2,}|[a-h])\.?")  # "1er", "2e", "5bis", "§ 5a", "Mme"
_LETTERS = {"o": "º", "°": "°", "º": "º", "ª": "ª"}
_SEVERAL = re.compile(r"[^\w.,]")
# "1<sup>1</sup>/<sub>2</sub>" is one and a half.
_STACKED = re.compile(
    r"(\d?)[ \t]*<sup>\s*(\d+)\s*</sup>[ \t]*(?:/|⁄|&frasl;)[ \t]*<sub>\s*(\d+)\s*</sub>", re.IGNORECASE
)


def raised(text: str) -> str:
    """Return a superscript as text: digits and signs as "¹" or "⁻¹", the end of a word or number as it is ("er",
    "bis", "a"), anything else as "^k"."""
    inner = text.strip()
    if not inner or _OF_A_WORD.fullmatch(inner):
        return text
    if _RAISABLE.fullmatch(inner):
        return text.replace(inner, inner.translate(_RAISED))
    return text.replace(inner, _LETTERS.get(inner) or f"^{inner}")


def fraction(above: str, below: str) -> str:
    """Return a fraction on one line: "5/2", "(a + b)/2"."""
    return "/".join(f"({part})" if _SEVERAL.search(part) else part for part in (above.strip(), below.strip()))


def with_plain_fractions(html: str) -> str:
    """Return HTML in which fractions that are made of a raised and a lowered number are on the line: "1 1/2"."""
    return _STACKED.sub(lambda found: f"{found[1]}{' ' * bool(found[1])}{found[2]}/{found[3]}", html)
