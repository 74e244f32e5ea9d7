"""Articles and headings out of a document that is lines alone: what a word processor, a page or a text file holds.

A document comes as `Line`s. Those that begin headings and articles are found by their style and by `LinePatterns`; what
stands below an article line, up to the next, is its text. Whether an article's number is followed by its rubric or by
its text is decided for the whole document: rubrics are short, and nearly all articles have one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from statgraph.formats.law_words import (
    ANNEX,
    LONGEST_HEADING,
    LONGEST_RUBRIC,
    SENTENCE_ENDS,
    ArticleLine,
    HeadingLine,
    HeadingStack,
    LinePatterns,
)

NEARLY_ALL = 0.9
HEADING, ARTICLE, LEFT_OUT = "heading", "article", "left out"  # what a line was recognised as
_MOST_TITLE_LINES = 3
_MIN_NUMBERS = 3  # of articles that begin with a bare number, or below their rubric
_MOST_IN_ORDER = 0.6  # of the bare numbers; the others are those of sections that are inserted
_MOST_ABOVE, _MOST_AMONG = 0.7, 0.5  # of the articles; the others have no rubric
# "(Nozione). La locazione è", "Deposits.—(1) A landlord", "Fianza. A la celebración".
_BRACKETED = re.compile(
    r"[(\[【〔](?P<rubric>[^()\[\]【】〔〕]*(?:[^\W\d_]{2}|[\u4e00-\u9fff])[^()\[\]【】〔〕]*)[)\]】〕]\.?\s*(?P<text>.*)"
)
_DASHED = re.compile(r"(?P<rubric>[^.]{2,150})\.\s?[—–-]{1,2}\s*(?P<text>\S.*)")
_FIRST_SENTENCE = re.compile(r"(?P<rubric>[^.]{2,80})\.\s+(?P<text>\S.*)")
_PARAGRAPH = re.compile(r"\(\d")
_PAGE = re.compile(r"(?:\s*\.{4,}\s*|\t+|\s{3,})\d{1,4}$")  # in a table of contents
_OWN_NUMBER = re.compile(r"(?P<number>\d+[a-z]?(?:\.\d+[a-z]?)*)[.):]?\s+(?P<rest>\S.*)")


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


@dataclass(frozen=True, slots=True)
class OutlineArticle:
    """An article of a document.

    Attributes:
        place: of its first line.
        local_id: unique in the document: "36", "disposición-adicional-primera".
        number: with its word, "" where it has none: "Artículo 36".
        rubric: "" where it has none.
        text: a paragraph, list item or table row a line.
        path: the headings above it.
    """

    place: str
    local_id: str
    number: str
    rubric: str
    text: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """What a line was taken for: `HEADING`, `ARTICLE` or `LEFT_OUT`, and that in words."""

    line: Line
    what: str
    words: str


@dataclass(slots=True)
class Outline:
    """The articles of a document, in its order, its title ("" where nothing says it), and what each line that is not in
    an article's text was taken for."""

    title: str
    articles: list[OutlineArticle] = field(default_factory=list)
    recognised: list[RecognisedLine] = field(default_factory=list)


@dataclass(slots=True)
class _Block:
    """A line that begins a heading or an article, and the lines below it up to the next such line."""

    line: Line
    heading: HeadingLine | None = None
    article: ArticleLine | None = None
    rubric: str = ""
    text: str = ""  # on the line itself
    is_bare: bool = False  # whether it begins with a number alone
    body: list[Line] = field(default_factory=list)


def read_outline(lines: Iterable[Line], patterns: LinePatterns, title: str = "") -> Outline:
    """Return the headings and articles of a document.

    Args:
        lines: of the document.
        patterns: of headings and articles, where their style does not show them.
        title: of the document, if its file says it.
    """
    lines = [line for line in lines if line.text.strip()]
    preamble, blocks = _blocks(lines, patterns)
    if not any(block.article for block in blocks):
        _take_headings_for_articles(blocks)
    if not any(block.article for block in blocks) and (others := patterns.without_articles()):
        preamble, blocks = _blocks(lines, others)
    if (lower := patterns.lower_case()) and (found := _in_lower_case(lines, lower, blocks)):
        preamble, blocks = found
    blocks, contents = _without_contents(blocks)
    if (numbers := patterns.bare_numbers()) and not any(block.line.level and block.article for block in blocks):
        before, numbered = _blocks(lines, patterns, numbers)
        numbered, listed = _without_contents(numbered)
        if (ordered := _in_order(numbered, before)) is not None:
            preamble, blocks, contents = before, ordered, listed
    outline = Outline(title)
    _leave_out(outline, contents, "table of contents")
    _settle_article_words(blocks)
    for articles in _with_annexes_apart(blocks):
        _settle_rubrics(articles)
        _settle_rubrics_above(articles, preamble, blocks)
        _settle_rubrics_among_texts(articles)
    _settle_heading_titles(blocks)
    _settle_title(outline, preamble, blocks)
    _fill(outline, blocks)
    order = {id(line): place for place, line in enumerate(lines)}
    outline.recognised.sort(key=lambda one: order.get(id(one.line), -1))
    return outline


def _blocks(
    lines: Sequence[Line], patterns: LinePatterns, numbers: LinePatterns | None = None
) -> tuple[list[Line], list[_Block]]:
    """Return the lines before the first heading or article, and the blocks.

    With `numbers`, a number alone begins an article too, unless it is that of a paragraph: below an article that begins
    with a word, up to the next heading or, if no paragraph is between, the number that follows the last one.
    """
    preamble: list[Line] = []
    blocks: list[_Block] = []
    below_word, last = False, 0
    for line in lines:
        text = _PAGE.sub("", line.text.strip())
        heading = patterns.heading(text)
        article = patterns.article(text) if heading is None else None
        below_word = heading is None and (below_word or article is not None)
        bare = numbers.article(text) if numbers is not None and heading is None and article is None else None
        if bare is not None:
            if not below_word or bare.digits == last + 1 > 1:
                article, below_word, last = bare, False, bare.digits
            else:
                last = 0
        if article is not None:
            blocks.append(_Block(line, article=article, text=article.rest, is_bare=article is bare))
        elif heading is not None or line.level:
            blocks.append(_Block(line, heading or HeadingLine("", "", " ".join(text.split()))))
        else:
            (blocks[-1].body if blocks else preamble).append(line)
    return preamble, blocks


def _in_lower_case(
    lines: Sequence[Line], patterns: LinePatterns, strict: Sequence[_Block]
) -> tuple[list[Line], list[_Block]] | None:
    """Return what `_blocks` does where rubrics begin in lower case; None where these lines are parts of sentences: they
    are fewer than the other articles, or their numbers are in no order."""
    preamble, blocks = _blocks(lines, patterns)
    n_strict = sum(bool(block.article) for block in strict)
    keys = [
        _number_key(block, place)
        for place, block in enumerate(blocks)
        if block.article is not None and block.article.digits
    ]
    is_most = len(keys) - n_strict >= max(_MIN_NUMBERS, n_strict)
    return (preamble, blocks) if is_most and len(_longest_rising(keys)) >= NEARLY_ALL * len(keys) else None


def _take_headings_for_articles(blocks: Sequence[_Block]) -> None:
    """Make articles of the headings that have a style and text below, in a document without article lines."""
    for block in blocks:
        if block.heading is not None and block.body and block.line.level:
            own = _OWN_NUMBER.fullmatch(block.heading.title)
            number, rest = (own["number"], own["rest"]) if own else (block.heading.name, block.heading.title)
            block.heading, block.article, block.text = None, ArticleLine("", number, rest, is_rubric=True), rest


def _in_order(blocks: Sequence[_Block], preamble: list[Line]) -> list[_Block] | None:
    """Return the blocks in which bare numbers begin articles; None where they do not: they are those of list items.

    The numbers of articles go on from one to the next; below a heading they may begin again. One that is out of order,
    such as that of a section which an amending act inserts, is in the text of the block before it.
    """
    parts: list[list[int]] = [[]]
    for i, block in enumerate(blocks):
        if block.heading is not None:
            parts += [[]] if parts[-1] else []
        elif block.is_bare:
            if len(parts) > 1 and not parts[-1] and _number_key(block, i)[0] > 1:
                parts.pop()  # it goes on
            parts[-1].append(i)
    chains = [_longest_rising([_number_key(blocks[i], i) for i in part]) for part in parts]
    kept = {key[-1] for chain in chains for key in chain}
    n_bare, n_others = sum(map(len, parts)), sum(bool(block.article) and not block.is_bare for block in blocks)
    n_steps = sum(key[0] - before[0] <= 1 for chain in chains for before, key in pairwise([(0,), *chain]))
    if len(kept) < max(_MIN_NUMBERS, n_others + 1, _MOST_IN_ORDER * n_bare) or n_steps < NEARLY_ALL * len(kept):
        return None
    ordered: list[_Block] = []
    for i, block in enumerate(blocks):
        if block.is_bare and i not in kept:
            (ordered[-1].body if ordered else preamble).extend((block.line, *block.body))
        else:
            ordered.append(block)
    return ordered


def _number_key(block: _Block, place: int) -> tuple[int, int, int]:
    """Return what orders bare numbers, with the block's place last: 2 before 2A and 2.1, and those as they stand."""
    assert block.article is not None
    return block.article.digits, 0 if block.article.number.isdigit() else place, place


def _longest_rising(keys: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the longest subsequence that rises strictly, but for the keys' last part."""
    ends: list[int] = []  # the place of the smallest last key of those of each length
    before: list[int] = []
    for place, key in enumerate(keys):
        length = bisect_left(ends, key[:2], key=lambda end: keys[end][:2])
        before.append(ends[length - 1] if length else -1)
        ends[length : length + 1] = [place]
    chain: list[tuple[int, int, int]] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        chain.append(keys[place])
        place = before[place]
    return chain[::-1]


def _without_contents(blocks: Sequence[_Block]) -> tuple[list[_Block], list[Line]]:
    """Return (the blocks without those of a table of contents, its lines): lines that end in a page, article lines
    without a text whose number comes again with one, and, before the first article, headings that come again."""
    full = {(_identity(block), block.text): i for i, block in enumerate(blocks) if block.article and block.body}
    last = {identity: i for (identity, _), i in full.items()}
    again = [
        bool(block.article)
        and not block.body
        and (full.get((_identity(block), block.text), -1) if block.text else last.get(_identity(block), -1)) > i
        for i, block in enumerate(blocks)
    ]
    kept = [i for i, block in enumerate(blocks) if not again[i] and not _PAGE.search(block.line.text.strip())]
    first = next((i for i in kept if blocks[i].article), len(blocks))
    repeated = Counter(_identity(blocks[i]) for i in kept)
    for i in list(kept):
        if i < first and blocks[i].heading and not blocks[i].body and repeated[_identity(blocks[i])] > 1:
            repeated[_identity(blocks[i])] -= 1
            kept.remove(i)
    others = sorted(set(range(len(blocks))) - set(kept))
    return [blocks[i] for i in kept], [line for i in others for line in (blocks[i].line, *blocks[i].body)]


def _identity(block: _Block) -> str:
    if block.article is not None:
        return f"{block.article.word} {block.article.number}".casefold()
    return " ".join(_PAGE.sub("", block.line.text.strip()).casefold().split())


def _leave_out(outline: Outline, lines: Iterable[Line], why: str) -> None:
    outline.recognised += [RecognisedLine(line, LEFT_OUT, why) for line in lines]


def _settle_article_words(blocks: Sequence[_Block]) -> None:
    """Make headings of the articles that hold others: "Article I" above "Section 1", "Artikel 2" above "§ 1"."""
    words = [
        "" if (of := block.article) is None or of.is_several or of.is_apart else of.word.casefold() for block in blocks
    ]
    holds: dict[str, list[bool]] = {}
    for block, word, below in zip(blocks, words, (*words, "")[1:], strict=True):
        is_above = bool(below) and below != word
        holds.setdefault(word, []).append(is_above and all(_is_title_line(line.text) for line in block.body))
    for block, word in zip(blocks, words, strict=True):
        if block.article and word and sum(holds[word]) >= NEARLY_ALL * len(holds[word]):
            name = f"{block.article.word} {block.article.number}"
            block.heading, block.article = HeadingLine(word, name, block.article.rest), None


def _with_annexes_apart(blocks: Sequence[_Block]) -> list[list[_Block]]:
    """Return the articles of the act, and those of each annex, whose paragraphs seldom have rubrics."""
    parts: list[list[_Block]] = [[]]
    for block in blocks:
        if block.heading is not None and block.heading.kind == ANNEX:
            parts.append([])
        elif block.article is not None:
            parts[-1].append(block)
    return parts


def _settle_rubrics(blocks: Sequence[_Block]) -> None:
    """Separate the rubrics from the texts that begin on the line of the number."""
    with_text = [block for block in blocks if block.text]
    are_dashed = 2 * sum(bool(_DASHED.fullmatch(block.text)) for block in with_text) >= len(with_text)
    for block in blocks:
        bracketed = _BRACKETED.fullmatch(block.text) or (_DASHED.fullmatch(block.text) if are_dashed else None)
        if (block.article and block.article.is_rubric) or block.line.level:
            block.rubric, block.text = block.text, ""
        elif bracketed:
            block.rubric, block.text = bracketed["rubric"], bracketed["text"]
    named = [block for block in blocks if block.text and not block.rubric and not _PARAGRAPH.match(block.text)]
    if _nearly_all(named, _could_be_rubric):
        for block in filter(_could_be_rubric, named):
            block.rubric, block.text = block.text, ""
    elif _nearly_all(named, lambda block: _FIRST_SENTENCE.fullmatch(block.text)):
        for match, block in ((_FIRST_SENTENCE.fullmatch(block.text), block) for block in named):
            block.rubric, block.text = (match["rubric"], match["text"]) if match else ("", block.text)
    bare = [block for block in blocks if not block.text and not block.rubric and block.body]
    if _nearly_all(bare, _begins_with_rubric):
        for block in filter(_begins_with_rubric, bare):
            block.rubric = block.body.pop(0).text.strip().strip("()")


def _settle_rubrics_above(part: Sequence[_Block], preamble: list[Line], blocks: Sequence[_Block]) -> None:
    """Take the lines above the numbers for the rubrics, where most articles of a part have one there and none
    elsewhere."""
    of_part = set(map(id, part))
    articles = [i for i, block in enumerate(blocks) if id(block) in of_part]
    bodies = {i: blocks[i - 1].body if i else preamble for i in articles if not blocks[i].rubric}
    above = [i for i, body in bodies.items() if body and _is_rubric_above(body, blocks[i - 1] if i else None)]
    if len(bodies) >= NEARLY_ALL * len(articles) and len(above) >= max(_MIN_NUMBERS, _MOST_ABOVE * len(articles)):
        for i in above:
            blocks[i].rubric = bodies[i].pop().text.strip().strip("()（）")


def _settle_rubrics_among_texts(blocks: Sequence[_Block]) -> None:
    """Take the lines of the numbers that are no sentences for rubrics, where half of the articles have one there and
    the texts of the others begin there."""
    with_text = [block for block in blocks if block.text and not block.rubric and block.body]
    rubrics = [block for block in with_text if _is_title_line(block.text) and not _PARAGRAPH.match(block.text)]
    if len(rubrics) >= max(_MIN_NUMBERS, _MOST_AMONG * len(blocks)):
        for block in rubrics:
            block.rubric, block.text = block.text, ""


def _is_rubric_above(body: Sequence[Line], before: _Block | None) -> bool:
    """Return whether the last line before an article can be its rubric, and is not the only one below a heading that
    has no title yet, or the title of the act."""
    text = body[-1].text.strip()
    is_title = len(body) == 1 and (before is None or (before.heading is not None and not before.heading.title))
    return _is_title_line(text) and (not is_title or text[:1] in "(（")


def _nearly_all(blocks: Sequence[_Block], holds: Callable[[_Block], object]) -> bool:
    return sum(map(bool, map(holds, blocks))) >= max(1, NEARLY_ALL * len(blocks))


def _could_be_rubric(block: _Block) -> bool:
    return bool(block.body) and len(block.text) <= LONGEST_RUBRIC and not block.text.endswith((":", ";", ",", "—"))


def _begins_with_rubric(block: _Block) -> bool:
    return len(block.body) > 1 and _is_title_line(block.body[0].text)


def _is_title_line(text: str) -> bool:
    return len(text) <= LONGEST_RUBRIC and not text.rstrip().endswith(SENTENCE_ENDS) and " | " not in text


def _is_title(body: Sequence[Line]) -> bool:
    """Return whether the lines below a heading can be its title: none, or a few short ones."""
    text = " ".join(line.text.strip() for line in body)
    is_short = len(body) <= _MOST_TITLE_LINES and len(text) <= LONGEST_HEADING
    return is_short and not text.endswith((":", ";", ",")) and " | " not in text


def _settle_heading_titles(blocks: list[_Block]) -> None:
    """Join the title below a heading to it ("TÍTULO II", "De los contratos"); make articles of annexes, and of
    their parts, with text of their own."""
    in_annex = False
    for i, block in enumerate(blocks):
        heading = block.heading
        if heading is None:
            continue
        in_annex |= heading.kind == ANNEX
        below = blocks[i + 1].heading if i + 1 < len(blocks) else heading
        is_above = i + 1 < len(blocks) and (heading.kind != ANNEX or blocks[i + 1].article is not None)
        if is_above and block.body and not heading.title and _is_title(block.body):
            block.heading = replace(heading, title=" ".join(line.text.strip() for line in block.body))
            block.body = []
        elif heading.kind == ANNEX and block.body:
            block.heading, block.rubric = None, heading.title
            block.article = ArticleLine("", heading.name, "", is_apart=True)
        elif in_annex and block.body and below is not None and below.kind in (heading.kind, ANNEX):
            block.rubric = heading.title or (block.body.pop(0).text.strip() if _begins_with_rubric(block) else "")
            block.article = ArticleLine("", heading.name, "")


def _settle_title(outline: Outline, preamble: Sequence[Line], blocks: list[_Block]) -> None:
    """Take the only heading of the highest style for the title, or else the first line."""
    top = [block for block in blocks if block.line.level == 1]
    if top == blocks[:1] and top and top[0].heading and not top[0].heading.kind:
        outline.title = top[0].heading.title
        outline.recognised.append(RecognisedLine(top[0].line, HEADING, f"{outline.title} (the title)"))
        preamble = (*preamble, *top[0].body)
        del blocks[0]
    elif not outline.title and preamble and len(preamble[0].text.strip()) <= LONGEST_HEADING:
        outline.title = " ".join(preamble[0].text.split())
        outline.recognised.append(RecognisedLine(preamble[0], HEADING, f"{outline.title} (the title)"))
        preamble = preamble[1:]
    _leave_out(outline, preamble, "before the first heading or article")


def _fill(outline: Outline, blocks: Sequence[_Block]) -> None:
    """Add the articles, each under the headings above it."""
    words = Counter(block.article.word.casefold() for block in blocks if block.article)
    usual = words.most_common(1)[0][0] if words else ""
    above = HeadingStack()
    met: Counter[str] = Counter()
    for block in blocks:
        if block.heading is not None:
            above.push(block.heading, _title_of(block), level=block.line.level or block.heading.level)
        if block.article is None:
            outline.recognised.append(RecognisedLine(block.line, HEADING, " > ".join(above.path)))
            _leave_out(outline, block.body, "under a heading")
            continue
        if block.article.is_apart:
            above = HeadingStack()
        path = above.path[:-1] if block.heading is not None else above.path
        text = "\n".join(filter(None, (block.text, *(line.text.strip() for line in block.body))))
        number, rubric = f"{block.article.word} {block.article.number}".strip(), block.rubric.strip(" .:–—-")
        if not text:
            _leave_out(outline, (block.line,), "an article without text")
            continue
        local_id = _local_id(block.article, usual, rubric)
        met[local_id] += 1
        local_id += f"_{met[local_id]}" if met[local_id] > 1 else ""
        outline.articles.append(OutlineArticle(block.line.place, local_id, number, rubric, text, path))
        words_of_it = ", ".join(filter(None, (number, rubric))) or local_id
        outline.recognised.append(RecognisedLine(block.line, ARTICLE, f"{words_of_it} ({len(text):,} characters)"))


def _title_of(block: _Block) -> str:
    """Return a heading as it is written, or its name and the title from the lines below."""
    assert block.heading is not None
    on_line = " ".join(_PAGE.sub("", block.line.text.strip()).split())
    name, title = block.heading.name, block.heading.title
    if title in on_line:
        return on_line
    return f"{name} {title}" if name[-1:] >= "\u4e00" else f"{name}. {title}"


def _local_id(article: ArticleLine, usual: str, rubric: str) -> str:
    number = re.sub(r"[\s.]+", "-", article.number.strip(" .º°ª§")).strip("-")
    if article.word.casefold() == usual and number:
        return number
    return re.sub(r"\W+", "-", f"{article.word} {number}".strip() or rubric).strip("-").casefold()[:60] or "article"
