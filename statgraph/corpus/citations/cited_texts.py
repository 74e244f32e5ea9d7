"""Which text the words after an article's number name: "of the Dog Act", "du code des jardins", "des Hundegesetzes"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Nouns for a text of law, some of them the end of a compound: "Act", "Gemeentewet", "Gartenordnung".
_NOUN = (
    r"(?:codes?|acts?|laws?|regulations?|statutes?|(?:by-?|bye-)laws?|c[óo]digo|codice|ley|legge|decreto|"
    r"[\w\-]*(?:wet|wetboek|besluit|verordening|regeling|reglement|decreet|verdrag|richtlijn|ordonnantie)|"
    r"[\w\-]*(?:gesetz(?:e?s|e|buch(?:e?s)?)?|ordnung|satzung|richtlinie|verfassung))\b"
)
# Those that are common words too, and so name a text only where the name begins.
_FIRST_NOUN = (
    r"(?:(?:même|ancien(?:ne)?)\s+)?(?:lois?|décret|ordonnance|arrêté|règlement|directive|convention|traité|constitution|"
    r"accord|circulaire|décision|délibération|protocole|charte|statuts?|pacte|déclaration|avenant|annexe|"
    r"livre des procédures|treaty|order|rules|ordinance|protocol|charter|agreement)\b"
)
_SMALL = r"(?:of|and|or|for|on|to|in|at|by|with|the|de|van|op|voor|über|zur|zum|etc\.)"
_TITLE_NOUN = (
    r"(?:Act|Code|Law|Regulations?|Rules|Order|Ordinance|Treaty|Convention|Directive|Constitution|Charter|Statute|Decree|"
    r"Protocol|Agreement|Measure|Wetboek|Wet)\b"
)
# Words that are not in a name: "of the dwelling that the Code" names nothing.
_NOT_IN_NAME = r"(?:an?|the|that|which|this|these|le|la|les|het|een|dit|deze)\b"
# BGB, HundeG, Awb, and not the III of "du III de l'article 4".
_ABBREVIATION = r"(?!(?:[IVX]+)\b)(?:[^\W\d_a-z]\w*[A-Z]\w*|[A-Z][b-df-hj-np-tv-xz]{2,3}|Gw|Rv|Sr|Sv)\b"

_PREPOSITION = (
    r"(?:de la|de l['’]|de cet(?:te)?|de ce|de ladite|dudit|desdite?s|du|des|de|della|dello|dell['’]|del|"
    r"of the|of an?|of|in the|in|under the|under|to the|to|van (?:het|de|een)|van|uit (?:het|de)|"
    r"(?:nach |aus |von |zu |in )?(?:des|der|dem)|vom|zum|zur|im)"
)
_OWN = re.compile(
    r"\s*,?\s*(?:(?:du|de la) présente?|del(?:la)? presente|of (?:this|the present)|van (?:dit|deze)|diese[rs])\b",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"\s*,?\s*(?:du même|de la même|de ce même|dudit|de ladite|of (?:the same|the said|that)|"
    r"van (?:hetzelfde|dezelfde|dat|die)|desselben|derselben)\s+(?P<noun>[\w\-]+)",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(r"\s*(?:of|under|to),")  # "section 5 of, and Schedule 1 to, the Dog Act"
_WORDS = r"(?P<name>(?:[\w'’\-]+\s?){1,12})"
_NAMED = re.compile(rf"\s*,?\s*{_PREPOSITION}(?:(?<=['’])|\b)\s*{_WORDS}")
_DIRECT = re.compile(rf"[^\S\n]*,?[^\S\n]*(?=[^\W\d_a-z]){_WORDS}")  # "Art. 5 Code civil", "§ 823 BGB"
_TITLE = re.compile(rf"\s*(?:(?:[A-Z\d][\w'’&\-]*|\([^()]*\)|{_SMALL}),?\s+){{0,12}}{_TITLE_NOUN}")
_OTHER = re.compile(rf"{_FIRST_NOUN}|(?:(?!{_NOT_IN_NAME})[\w'’\-]+\s+){{0,3}}{_NOUN}", re.IGNORECASE)
_DIRECT_OTHER = re.compile(rf"(?i:{_FIRST_NOUN}|{_NOUN})")
# "The Dog Act 1906", "the Dog Act of 1906" and "the Dog Act Regulations" are not "the Dog Act".
GOES_ON = re.compile(rf"(?:(?:of|van|vom|von|de) )?(?:1[6-9]|20)\d\d\b|{_TITLE_NOUN}")


class CitedTexts:
    """Finds the code of a corpus that the words after an article's number name.

    Args:
        codes: the titles of the corpus' codes.
    """

    def __init__(self, codes: Iterable[str]):
        self._codes = {plain_title(code): code for code in codes}
        # A genitive: "des Hundegesetzes", "des Bürgerlichen Gesetzbuchs".
        self._stems = {title_stem(plain): code for plain, code in self._codes.items()}

    def named(self, after: str, code: str, last: str | None) -> str | None:
        """Return the code that the words after a number name; its own where they name none, None for another text.

        Args:
            after: the words, from the end of the number on.
            code: the code that they belong to.
            last: the code of the reference before, None where that was to a text that is not in the corpus.
        """
        if _OWN.match(after):
            return code
        same = _SAME.match(after)
        if same and same["noun"].lower() in ("code", "wetboek"):
            return last
        if same and re.fullmatch(f"{_FIRST_NOUN}|{_NOUN}", same["noun"], re.IGNORECASE):
            # "section 2 of that Act" may go back to an act that was named without a section.
            noun = plain_title(same["noun"])
            return last if last not in (None, code) and re.search(rf"{noun}\b", plain_title(last)) else None
        if _INTERRUPTED.match(after):
            return None
        named, other = _NAMED.match(after), _OTHER
        if named is None:
            named, other = _DIRECT.match(after), _DIRECT_OTHER
        if named is None:
            return code
        name = unicodedata.normalize("NFC", named["name"])
        known = self._known(name)
        if known is not None:
            return known
        begins = named.start("name")
        another = other.match(name) or re.match(_ABBREVIATION, name) or _TITLE.match(after, begins)
        return None if another else code

    def _known(self, name: str) -> str | None:
        """Return the code with whose title a name begins, the longest; None where it goes on to another name."""
        words = re.findall(r"[^\W_]+", name)
        plain = [plain_title(word) for word in words]
        for stop in range(len(words), 0, -1):
            begin = " ".join(plain[:stop])
            code = self._codes.get(begin) or self._stems.get(title_stem(begin))
            if code is not None:
                return None if GOES_ON.match(" ".join(words[stop:])) else code
        return None


def plain_title(title: str) -> str:
    """Return a title without case, accents and punctuation."""
    letters = unicodedata.normalize("NFKD", title.casefold())
    if not letters.isascii():
        letters = "".join(c for c in letters if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_]+", letters))


def title_stem(plain: str) -> str:
    """Return a German title without the endings of its cases, another as it is."""
    if not re.search(r"(?:gesetz|gesetzbuch|ordnung|satzung)(?:e?s)?\b", plain):
        return plain
    return " ".join(re.sub(r"(?:e[snrm]|s|e)$", "", word) for word in plain.split())
