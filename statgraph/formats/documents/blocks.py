"""The lines of a document as blocks: each begins with a heading or an article, up to the next such line.

Which lines begin one is decided for the whole document: by their style where articles have one, else by their words,
else by numbers that go on from one to the next.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest

from statgraph.formats.law_words import ANNEX, LONGEST_RUBRIC, SENTENCE_ENDS, ArticleLine, HeadingLine, LinePatterns

NEARLY_ALL = 0.9
MIN_NUMBERS = 3  # of articles that begin with a bare number, or below their rubric
_MIN_STYLED = 2  # article lines with a style, in a document where the style alone shows them
_MOST_ABOVE = 0.7  # of the articles; the others have no rubric
_MOST_IN_ORDER = 0.6  # of the bare numbers; the others are those of sections that are inserted
_MOST_AGAIN, _MOST_ALIKE = 0.8, 0.5  # of the entries of a table of contents: come again, with a like rubric
_MOST_COMMON = 0.6  # of the words of an entry are in the rubric that it stands for
_PAGE = re.compile(r"(?:\s*\.{4,}\s*|\t+|\s{3,})\d{1,4}$")  # in a table of contents
_OWN_NUMBER = re.compile(r"(?P<number>\d+[a-z]?(?:\.\d+[a-z]?)*)[.):]?\s+(?P<rest>\S.*)")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph, list item or table row.

    Attributes:
        place: such as `law.docx:12`.
        text: on one line.
        level: of its heading style, from 1; 0 for running text.
        goes_on: whether it goes on the line above, from which only a soft break of Markdown divides it.
    """

    place: str
    text: str
    level: int = 0
    goes_on: bool = False


@dataclass(slots=True)
class Block:
    """A line that begins a heading or an article, and the lines below it up to the next such line.

    Attributes:
        line: the line.
        heading, article: what it begins.
        rubric: of the article.
        text: of the article, on the line itself.
        is_bare: whether it begins with a number alone.
        body: the lines below.
    """

    line: Line
    heading: HeadingLine | None = None
    article: ArticleLine | None = None
    rubric: str = ""
    text: str = ""
    is_bare: bool = False
    body: list[Line] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Return the title of a heading, "" of an article."""
        return self.heading.title if self.heading is not None else ""

    @property
    def digits(self) -> int:
        """Return the number of an article without its letters, 0 of a heading."""
        return self.article.digits if self.article is not None else 0

    @property
    def is_plain(self) -> bool:
        """Return whether it is a heading by its style alone."""
        return self.heading is not None and not self.heading.kind

    @property
    def is_empty(self) -> bool:
        """Return whether it is an article of which only the number is known so far."""
        return self.article is not None and not (self.text or self.rubric or self.body)


@dataclass(slots=True)
class Divided:
    """A document in blocks, the lines before the first one, and those of its tables of contents."""

    preamble: list[Line]
    blocks: list[Block]
    contents: list[Line] = field(default_factory=list)

    @property
    def has_articles(self) -> bool:
        return any(block.article for block in self.blocks)


def divided(lines: Sequence[Line], patterns: LinePatterns) -> Divided:
    """Return the blocks of a document, the first way of these that finds articles: by style and words; headings with a
    style and a text; what begins articles in a language where nothing else does. Rubrics in lower case and numbers
    alone are taken where there are more of them, in order."""
    found = _by_words(lines, patterns)
    if not found.has_articles:
        _take_headings_for_articles(found.blocks)
    if not found.has_articles and (others := patterns.without_articles()):
        found = _by_words(lines, others)
    if (lower := patterns.lower_case()) and (in_lower_case := _in_lower_case(lines, lower, found.blocks)):
        found = in_lower_case
    found = _without_contents(found)
    if numbers := patterns.bare_numbers():
        styled = _by_numbers(lines, patterns, numbers, have_style=True)
        if styled or any(block.line.level and block.article for block in found.blocks):
            return styled or found
        return _by_numbers(lines, patterns, numbers, have_style=False) or found
    return found


def without_page(text: str) -> str:
    """Return a line without the number of the page at its end."""
    return _PAGE.sub("", text.strip())


def is_title_line(text: str) -> bool:
    """Return whether a line can be a title: short, no sentence, no row of a table."""
    return len(text) <= LONGEST_RUBRIC and not text.rstrip().endswith(SENTENCE_ENDS) and " | " not in text


def _number_of(article: ArticleLine) -> str:
    return f"{article.word} {article.number}".casefold()


def _by_words(
    lines: Sequence[Line], patterns: LinePatterns, numbers: LinePatterns | None = None, *, have_style: bool = False
) -> Divided:
    """Return the blocks that begin with a style or with words.

    With `numbers`, a number alone begins an article too, on a line with a style if they `have_style`, else unless it is
    that of a paragraph: below an article that begins with a word, up to the next heading or, if no paragraph is
    between, the number that follows the last one. Below a heading that stands apart, such as that of transitional
    provisions, so does an ordinal.
    """
    texts = [without_page(line.text) for line in lines]
    headings = list(map(patterns.heading, texts))
    articles = [patterns.article(text, has_style=line.level > 0) for line, text in zip(lines, texts, strict=True)]
    sure = {_number_of(article) for article in articles if article is not None and not article.is_doubtful}
    n_styled = sum(line.level > 0 for line, article in zip(lines, articles, strict=True) if article)
    n_plain = sum(article is not None for article in articles) - n_styled
    # Where article lines have a style, those without one are text, and so are those of headings.
    needs_style = have_style or n_styled >= _MIN_STYLED or n_styled > n_plain
    has_styled_headings = any(line.level and heading for line, heading in zip(lines, headings, strict=True))
    found = Divided([], [])
    blocks = found.blocks
    below_word, last, last_of_words, is_apart = False, 0, 0, False
    for line, text, heading, article in zip(lines, texts, headings, articles, strict=True):
        if not line.level:
            heading = None if needs_style and has_styled_headings else heading
            article = None if needs_style else article
        if heading is not None and heading.kind == ANNEX and _could_be_rubric(blocks, line, heading):
            heading = None
        # A doubtful line must have the next number, and no other line that.
        if article is not None and article.is_doubtful and not line.level:
            article = article if article.digits == last_of_words + 1 and _number_of(article) not in sure else None
        if heading is not None:
            article, is_apart = None, heading.kind == ANNEX
        elif article is None and is_apart:
            article = patterns.ordinal(text)
        below_word = heading is None and (below_word or article is not None)
        last_of_words = article.digits if article is not None else last_of_words
        may_be_bare = heading is None and article is None and (line.level > 0 or not have_style)
        bare = numbers.numbered(text, last) if numbers is not None and may_be_bare else None
        if bare is not None:
            if have_style or not below_word or bare.digits == last + 1 > 1:
                article, below_word, last = bare, False, bare.digits
            else:
                last = 0
        if article is not None:
            blocks.append(Block(line, article=article, text=article.rest, is_bare=article is bare))
        elif heading is not None or line.level:
            blocks.append(Block(line, heading or HeadingLine("", "", " ".join(text.split()))))
        else:
            (blocks[-1].body if blocks else found.preamble).append(line)
    return replace(found, blocks=_with_styles_joined(blocks))


def _could_be_rubric(blocks: Sequence[Block], line: Line, heading: HeadingLine) -> bool:
    """Return whether what stands apart elsewhere is the rubric of the article above: "Disposiciones transitorias"."""
    is_below_number = bool(blocks) and blocks[-1].is_empty and not blocks[-1].line.level
    return is_below_number and not line.level and not any(map(str.isdecimal, heading.name)) and not heading.title


def _with_styles_joined(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks without the headings by style alone that belong to what is beside them: the rubric below the
    number of an article, or above it where most articles have theirs there; a subheading in an article; the title of a
    part below its name."""
    numbered = {id(block) for block in blocks if block.article and not block.rubric and not block.text}
    above = {id(one) for one, below in pairwise(blocks) if one.is_plain and not one.body and id(below) in numbered}
    are_above = len(above) >= max(_MIN_STYLED, _MOST_ABOVE * len(numbered))
    joined: list[Block] = []
    for block, below in zip_longest(blocks, blocks[1:]):
        before = joined[-1] if joined else None
        is_name_alone = before is not None and not (before.is_plain or before.title or before.body)
        heads = below is not None and below.line.level > block.line.level
        if are_above and id(block) in above and below is not None:
            below.rubric = block.title
        elif not block.is_plain or before is None:
            joined.append(block)
        elif before.is_empty and block.body:
            before.rubric, before.body = block.title, block.body
        elif before.article and 0 < before.line.level < block.line.level and not heads:
            before.body += [block.line, *block.body]
        elif before.heading and before.line.level == block.line.level and is_name_alone:
            before.heading, before.body = replace(before.heading, title=block.title), block.body
        else:
            joined.append(block)
    return joined


def _in_lower_case(lines: Sequence[Line], patterns: LinePatterns, strict: Sequence[Block]) -> Divided | None:
    """Return the blocks where rubrics begin in lower case; None where these lines are parts of sentences: they are
    fewer than the other articles, or their numbers are in no order."""
    found = _by_words(lines, patterns)
    n_strict = sum(bool(block.article) for block in strict)
    numbered = [block for block in found.blocks if block.digits]
    is_most = len(numbered) - n_strict >= max(MIN_NUMBERS, n_strict)
    return found if is_most and len(_in_order(numbered)) >= NEARLY_ALL * len(numbered) else None


def _take_headings_for_articles(blocks: Sequence[Block]) -> None:
    """Make articles of the headings that have a style and text below, in a document without article lines."""
    for block in blocks:
        if block.heading is not None and block.body and block.line.level:
            own = _OWN_NUMBER.fullmatch(block.heading.title)
            number, rest = (own["number"], own["rest"]) if own else (block.heading.name, block.heading.title)
            block.heading, block.article, block.text = None, ArticleLine("", number, rest, is_rubric=True), rest


def _by_numbers(
    lines: Sequence[Line], patterns: LinePatterns, numbers: LinePatterns, *, have_style: bool
) -> Divided | None:
    """Return the blocks in which bare numbers begin articles; None where they do not: they are those of list items.

    The numbers of articles go on from one to the next; below a heading they may begin again. One that is out of order,
    such as that of a section which an amending act inserts, is in the text of the block before it.
    """
    found = _without_contents(_by_words(lines, patterns, numbers, have_style=have_style))
    parts: list[list[Block]] = [[]]
    for block in found.blocks:
        if block.heading is not None:
            parts += [[]] if parts[-1] else []
        elif block.is_bare:
            if len(parts) > 1 and not parts[-1] and block.digits > 1:
                parts.pop()  # it goes on
            parts[-1].append(block)
    chains = list(map(_in_order, parts))
    kept = {id(block) for chain in chains for block in chain}
    n_bare = sum(map(len, parts))
    n_others = sum(block.article is not None and not block.is_bare for block in found.blocks)
    if len(kept) < max(MIN_NUMBERS, n_others + 1, _MOST_IN_ORDER * n_bare):
        return None
    if have_style:
        return found
    n_steps = 0
    for chain in chains:
        last = 0
        for block in chain:
            # The first number of 6-5 may be that of a division, and leap.
            n_steps += block.digits - last <= 1 or (block.article is not None and "-" in block.article.number)
            last = block.digits
    if n_steps < NEARLY_ALL * len(kept):
        return None
    ordered = Divided(found.preamble, [], found.contents)
    for block in found.blocks:
        if block.is_bare and id(block) not in kept:
            (ordered.blocks[-1].body if ordered.blocks else ordered.preamble).extend((block.line, *block.body))
        else:
            ordered.blocks.append(block)
    return ordered


def _in_order(blocks: Sequence[Block]) -> list[Block]:
    """Return most of some articles, such that their numbers rise: 2A and 2.1 behind 2, and those as they stand."""
    keys = [
        (block.digits, 0 if block.article is not None and block.article.number.isdigit() else place)
        for place, block in enumerate(blocks, start=1)
    ]
    ends: list[int] = []  # the place of the smallest last key of the chains of each length
    before: list[int] = []
    for place, key in enumerate(keys):
        length = bisect_left(ends, key, key=keys.__getitem__)
        before.append(ends[length - 1] if length else -1)
        ends[length : length + 1] = [place]
    chain: list[Block] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        chain.append(blocks[place])
        place = before[place]
    return chain[::-1]


def _without_contents(found: Divided) -> Divided:
    """Return a document without its tables of contents: lines that end in a page; and entries without a text of their
    own whose numbers and rubrics come again, with the headings among them."""
    unpaged = [block for block in found.blocks if not _PAGE.search(block.line.text.strip())]
    entries = _entries(unpaged)
    preamble = found.preamble
    for block in (unpaged[i] for i in entries):
        if block.article and block.body:  # below the last entry: the title of the act again, and how it begins
            preamble, block.body = [*preamble, *block.body], []
    kept = [block for i, block in enumerate(unpaged) if i not in entries]
    left = {id(block) for block in found.blocks} - {id(block) for block in kept}
    lines = [line for block in found.blocks if id(block) in left for line in (block.line, *block.body)]
    return Divided(preamble, kept, lines)


def _entries(blocks: Sequence[Block]) -> set[int]:
    """Return which blocks are entries of a table of contents, or headings among them."""
    following: dict[str, list[int]] = {}
    for i, block in enumerate(blocks):
        following.setdefault(_identity(block), []).append(i)
    found: set[int] = set()
    for i, block in enumerate(blocks):
        if block.article is None or i in found:
            continue
        run = _run(blocks, i, next((later for later in following[_identity(block)] if later > i), i))
        coming = [[blocks[j] for j in following[_identity(blocks[entry])] if j > run[-1]] for entry in run]
        n_again = sum(map(bool, coming))
        n_alike = sum(
            any(_is_alike(blocks[entry], one) for one in later) for entry, later in zip(run, coming, strict=True)
        )
        if n_alike and n_again >= _MOST_AGAIN * len(run) and n_alike >= _MOST_ALIKE * len(run):
            above = [j for j in range(i) if blocks[j].heading and max(following[_identity(blocks[j])]) > run[-1]]
            found |= {*run, *(j for j in range(i, run[-1]) if blocks[j].heading), *(above if not found else ())}
    return found


def _run(blocks: Sequence[Block], start: int, end: int) -> list[int]:
    """Return the articles from one up to where its number comes again; none if one of them has a text below, more than
    a title, but for the last."""
    articles = [i for i in range(start, end) if blocks[i].article]
    for block in (blocks[i] for i in articles[:-1] or articles):
        if block.body and (block.text or len(block.body) > 1 or not is_title_line(block.body[0].text)):
            return []
    return articles


def _is_alike(entry: Block, article: Block) -> bool:
    """Return whether the rubrics of an entry and of an article are the same but for some words or a full stop; a number
    alone is an entry if the article has a text."""
    below = article.text or " ".join(line.text for line in article.body[:1])
    one, other = (set(_WORDS.findall(text.casefold())) for text in (entry.text, below))
    return len(one & other) >= _MOST_COMMON * len(one) if one else bool(article.body)


def _identity(block: Block) -> str:
    if block.article is not None:
        return _number_of(block.article)
    return " ".join(_WORDS.findall(without_page(block.line.text).casefold()))
