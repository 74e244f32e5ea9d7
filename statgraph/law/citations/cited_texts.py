"""Which text the words around an article's number name: "of the Dog Act", "du code rural", "des Hundegesetzes";
and where a text speaks as another: "The Dog Act is amended as follows"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from statgraph.law.citations.code_mentions import CodeMentions, plain_title, volume_of
from statgraph.law.citations.grammar import Grammar, grammar_of, words_pattern
from statgraph.law.citations.numbering import LOOK_BACK, NumberList
from statgraph.law.citations.tables import Table, tables

_LOOK_AHEAD = 120  # characters after a number in which its code is named
_LOOK_BACK = 40
_LONGEST_SENTENCE = 1_000
_SENTENCE_END = re.compile(r"\n|(?<=[^\W\d_]{4}[.;])\s+(?=[^\W\da-zà-ÿ])")
_ENUMERATION = re.compile(r"\W*(?:\w{1,4}[^\w\s]+\s+)*")  # "II. - 1° a) "
_SENTENCE_REST = re.compile(r'[^\n:"“«„—]{0,200}')
_PARAGRAPH = re.compile(r"^[IVX]+(?:\s?\.|\s[–—-])", re.MULTILINE)
_ASIDE = re.compile(r"“[^”]*”|«[^»]*»|„[^“”]*[“”]|\"[^\"]*\"|\([^()]*\)")


@cache
def _amending(language: str) -> tuple[list[str], re.Pattern[str]]:
    """Return the words of a language that amend a law: of which a text with them has one, and their pattern."""
    forms = tables()[language].get("amending", ())
    stems = {(re.search("[a-z]{5,}", form) or [""])[0] for form in forms}
    return sorted(stems), re.compile(rf"(?<!\w){words_pattern(forms)}")


class Amendment(NamedTuple):
    """Words that amend a law, behind which a text speaks as that law does.

    Attributes:
        sentence: where their sentence begins, and `said`, that up to them, blank where it quotes or puts in brackets.
        start: from where on the text speaks so.
        law: the code of the law that the sentence names, None for a text that is not in the corpus.
        is_sure: whether it is amended, whatever references are in the sentence.
        is_named: whether it names a law at all.
    """

    sentence: int
    said: str
    start: int
    law: str | None = None
    is_sure: bool = False
    is_named: bool = True

    def amended(self, cited: Sequence[tuple[int, str | None]], before: str | None) -> str | None:
        """Return the code of the amended law.

        Args:
            cited: the places and codes of the references in the sentence.
            before: the code of the law as which the text spoke before.
        """
        codes = [of for at, of in cited if self.said[at - self.sentence :][:1] != " "]
        if self.is_sure or (self.is_named and not codes):
            return self.law
        return codes[-1] if codes else before


class CitedTexts:
    """Finds the code of a corpus that the words after an article's number name, or before it in Chinese.

    Args:
        codes: the titles of the corpus' codes.
    """

    def __init__(self, codes: Iterable[str]):
        codes = list(codes)
        self._mentions = CodeMentions(codes)
        self._has_volumes = any(map(volume_of, codes))

    def volume(self, text: str, numbers: NumberList, code: str | None) -> tuple[str | None] | tuple[()]:
        """Return the code of the numbered volume that stands beside numbers, None if that is not in the corpus: "42
        U.S.C. § 1983", "section 1983 of title 42"; () where none does.

        Args:
            text: the whole text.
            numbers: of articles in it.
            code: the code that the text belongs to, "" for a question.
        """
        grammar = numbers.grammar
        if grammar.number_first:
            return ()
        before, after = max(0, numbers.start - LOOK_BACK), numbers.end + _LOOK_AHEAD
        named = grammar.volume_before.search(text, before, numbers.start)
        named = named or grammar.volume_behind.match(text, numbers.end, after)
        if named is None:
            return ()
        mentions = self._mentions.find(named["volume"])
        if mentions:
            own = volume_of(code or "")
            codes = mentions[0].codes
            alike = [of for of in codes if own and (volume := volume_of(of)) and volume.collection == own.collection]
            of = alike or codes
            return (of[0] if len(of) == 1 else None,)
        # "title 2" may be a part of the law itself.
        is_volume = any(named.groupdict().get(name) for name in ("collection", "behind"))
        return (None,) if is_volume or (self._has_volumes and (not code or volume_of(code))) else ()

    def named(self, text: str, numbers: NumberList, *, code: str | None, last: str | None) -> str | None:
        """Return the code that the words beside numbers name; its own where they name none, None for another text.

        Args:
            text: the whole text.
            numbers: of articles in it.
            code: the code that the text belongs to, or speaks as where it amends another.
            last: the code of the reference before, None where that was to a text that is not in the corpus.
        """
        grammar = numbers.grammar
        if grammar.number_first:
            before = text[max(0, numbers.start - _LOOK_BACK) : numbers.start]
            return self._named_before(before, grammar.number_first, code, last)
        # What is no volume of a collection here is a title of the law itself.
        part = grammar.volume_behind.match(text, numbers.end, numbers.end + _LOOK_AHEAD)
        end = part.end() if part else numbers.end
        after = text[end : end + _LOOK_AHEAD]
        if grammar.own.match(after):
            return code
        if grammar.thereof.match(after):
            return last
        same = grammar.same.match(after)
        if same and grammar.code_noun.fullmatch(same["noun"]):
            return last
        if same and grammar.other_direct.match(same["noun"]):
            # "section 2 of that Act" may go back to an act that was named without a section.
            noun = rf"{re.escape(plain_title(same['noun']))}\b"
            return last if last not in (None, code) and re.search(noun, plain_title(last)) else None
        if grammar.interrupted.match(after):
            return None
        named, other = grammar.named.match(after), grammar.other
        if named is None:
            named, other = grammar.direct.match(after), grammar.other_direct
        if named is None:
            return code
        known, goes_on = self._mentions.begins(after[named.end() :])
        if known and not goes_on:
            return known[0] if len(known) == 1 else code if code in known else None
        return None if known or other.match(after, named.end()) else code

    def amendments(self, text: str, code: str, languages: Iterable[str]) -> list[Amendment]:
        """Return the places from which on a text of a code amends a law, in their order."""
        found: list[Amendment] = []
        for language in languages:
            stems, pattern = _amending(language)
            if any(map(text.__contains__, stems)):  # trying the pattern everywhere would take as long as all the rest
                for words in pattern.finditer(text):
                    found.append(self._amendment(text, words, grammar_of((language,)), code))
                    following = _PARAGRAPH.search(text, words.end())
                    if following and _PARAGRAPH.match(text, found[-1].sentence):  # "II. - " ends what "I. - " begins
                        found.append(Amendment(following.start(), "", following.start(), code, is_sure=True))
        return sorted(found, key=lambda amendment: amendment.start)

    def _amendment(self, text: str, words: re.Match[str], grammar: Grammar, code: str) -> Amendment:
        earliest = max(0, words.start() - _LONGEST_SENTENCE)
        sentence = max((end.end() for end in _SENTENCE_END.finditer(text, earliest, words.start())), default=earliest)
        said = _ASIDE.sub(lambda aside: " " * len(aside[0]), text[sentence : words.start()])
        enumeration = _ENUMERATION.match(said)
        assert enumeration is not None  # it may be empty
        begin = enumeration.end()
        law = grammar.law.search(said, begin)
        if law is None:
            rest = _SENTENCE_REST.match(text, words.end())
            assert rest is not None  # it may be empty
            law = grammar.law.search(rest[0])
            of = self._amended(rest[0], law, code) if law else None
            return Amendment(sentence, said, words.end() + (law.end() if law else 0), of, is_named=law is not None)
        of = self._amended(said, law, code)
        into = grammar.named.match(said, begin)
        if into and grammar.law.match(said, into.end()):  # "In the Dog Act, in section 5, insert"
            return Amendment(sentence, said, sentence + law.end(), of, is_sure=True)
        return Amendment(sentence, said, words.end(), of)

    def _amended(self, sentence: str, law: re.Match[str], code: str) -> str | None:
        """Return the code of a law named in a sentence of a code, None for one that is not in the corpus."""
        codes, goes_on = self._mentions.begins(sentence[law.start() :])
        return None if goes_on or not codes else code if code in codes else codes[0]

    def _named_before(self, before: str, table: Table, code: str | None, last: str | None) -> str | None:
        """Return the code that the words before numbers name, as `named` does."""
        before = before.rstrip()
        if before.endswith(tuple(table["own"])):
            return code
        if before.endswith(tuple(table["same"])):
            return last
        quoted = before.endswith(("》", "」", "』", "〉"))
        if not quoted and not before.endswith(tuple(table["laws_last"])):
            return code
        mentions = self._mentions.find(before)
        if mentions and mentions[-1].end == len(before) - quoted:
            return mentions[-1].codes[0]
        return None
