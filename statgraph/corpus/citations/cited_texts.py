"""Which text the words around an article's number name: "of the Dog Act", "du code rural", "des Hundegesetzes"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from statgraph.corpus.citations.code_mentions import CodeMentions, plain_title
from statgraph.corpus.citations.grammar import Table
from statgraph.corpus.citations.numbering import NumberList

_LOOK_AHEAD = 120  # characters after a number in which its code is named
_LOOK_BACK = 40


class CitedTexts:
    """Finds the code of a corpus that the words after an article's number name, or before it in Chinese.

    Args:
        codes: the titles of the corpus' codes.
    """

    def __init__(self, codes: Iterable[str]):
        self._mentions = CodeMentions(codes)

    def named(self, text: str, numbers: NumberList, *, code: str, last: str | None) -> str | None:
        """Return the code that the words beside numbers name; its own where they name none, None for another text.

        Args:
            text: the whole text.
            numbers: of articles in it.
            code: the code that the text belongs to.
            last: the code of the reference before, None where that was to a text that is not in the corpus.
        """
        grammar = numbers.grammar
        if grammar.number_first is not None:
            before = text[max(0, numbers.start - _LOOK_BACK) : numbers.start]
            return self._named_before(before, grammar.number_first, code, last)
        after = text[numbers.end : numbers.end + _LOOK_AHEAD]
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

    def _named_before(self, before: str, table: Table, code: str, last: str | None) -> str | None:
        """Return the code that the words before numbers name, as `named` does."""
        before = before.rstrip()
        if before.endswith(tuple(table["own"])):
            return code
        if before.endswith(tuple(table["same"])):
            return last
        quoted = before.endswith("》")
        if not quoted and not before.endswith(tuple(table["laws_last"])):
            return code
        mentions = self._mentions.find(before)
        if mentions and mentions[-1].end == len(before) - quoted:
            return mentions[-1].codes[0]
        return None
