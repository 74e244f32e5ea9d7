"""One spelling for what texts, titles and questions spell in several ways: all that compares them reads it."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Of Unicode's Default_Ignorable_Code_Point: soft hyphens, joiners, marks of direction, variation selectors.
_INVISIBLE = "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
# Those typed for one that are letters for Unicode, or that NFKC makes a blank with an accent.
_APOSTROPHES = "\u00b4\u02b9\u02bb\u02bc\u02bd\u02c8\ua78c"


def normal_text(text: str) -> str:
    """Return a text in NFC without invisible characters, with 0 to 9 for the digits of other scripts and ' for what is
    typed as an apostrophe: "Art. ٣<soft hyphen>٠" is "Art. 30", and "l´eau" is "l'eau"."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    odd, spelling = _spelling()
    return odd.sub(lambda found: spelling[found[0]], text)


def normal_places(text: str) -> list[int]:
    """Return where each character of the normal form of a text in NFC stands in it."""
    invisible = re.compile(f"[{_INVISIBLE}]")
    return [place for place, character in enumerate(text) if not invisible.match(character)]


def normal_heading(title: str) -> str:
    """Return the title of a code or another heading in NFC with plain blanks, which is its identity."""
    return " ".join(unicodedata.normalize("NFC", title).split())


def comparable_question(text: str) -> str:
    """Return a question in comparable form: composed characters, folded case, single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


@cache
def _spelling() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return a pattern of the characters that are spelt otherwise, and how."""
    characters = "".join(map(chr, range(0x80, 0x10000)))
    digits = {sign: str(int(sign)) for sign in characters if sign.isdecimal()}
    invisible = dict.fromkeys(re.findall(f"[{_INVISIBLE}]", characters), "")
    odd = re.compile(f"[{_INVISIBLE}{_APOSTROPHES}{''.join(digits)}]")
    return odd, digits | invisible | dict.fromkeys(_APOSTROPHES, "'")
