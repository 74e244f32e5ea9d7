"""Articles and headings out of a document that is lines alone: what a word processor, a page or a text file holds.

A document comes as `Line`s, of which `blocks` finds those that begin headings and articles. Whether an article's number
is followed by its rubric or by its text is decided for the whole document: rubrics are short, and nearly all articles
have one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from statgraph.formats.documents.blocks import (
    MIN_NUMBERS,
    NEARLY_ALL,
    Block,
    Divided,
    Line,
    divided,
    is_title_line,
    without_page,
)
from statgraph.formats.law_words import (
    ANNEX,
    LONGEST_HEADING,
    LONGEST_RUBRIC,
    ArticleLine,
    HeadingLine,
    HeadingStack,
    LinePatterns,
)
from statgraph.formats.repealed import is_repealed
from statgraph.law.account import KEPT
from statgraph.law.source_report import REPEALED

# The rules by which lines are left out, beside `REPEALED`.
PREAMBLE, CLOSING, CONTENTS, METADATA = "preamble", "closing words", "contents", "metadata"
WITHOUT_TEXT, WITHOUT_ARTICLES, MARKS = "articles without text", "headings without articles", "marks of insertion"
_MOST_TITLE_LINES = 3
_MOST_ABOVE, _MOST_AMONG, _MOST_BARE = 0.7, 0.5, 0.5  # of the articles; the others have no rubric
_MOST_CLOSING_WORDS = 30  # below a heading behind the last article; more are an article
# "(Nozione). La locazione è", "Deposits.—(1) A landlord", "Fianza. A la celebración".
_BRACKETED = re.compile(
    r"[(\[【〔](?P<rubric>[^()\[\]【】〔〕]*(?:[^\W\d_]{2}|[\u4e00-\u9fff])[^()\[\]【】〔〕]*)[)\]】〕]\.?\s*(?P<text>.*)"
)
# "(Ek: 30/7/2024-7527/5 md.)", "(30.12.2003/1321)", "(Redação dada pela Lei nº 12.744, de 2012)": which act changed the
# article, and not what it is about.
_AMENDMENT = re.compile(r"\d{1,2}[/.]\d{1,2}[/.]\d{4}|pel[ao] .+ nº .+\d{4}")
_DASHED = re.compile(r"(?P<rubric>[^.]{2,150})\.\s?[—–-]{1,2}\s*(?P<text>\S.*)")
_FIRST_SENTENCE = re.compile(r"(?P<rubric>[^.]{2,80})\.\s+(?P<text>\S.*)")
_CAPTION = re.compile(r"（[^（）]+）")
_PARAGRAPH = re.compile(r"\(\d")


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


@dataclass(slots=True)
class Outline:
    """What a document holds.

    Attributes:
        title: "" where nothing says it.
        articles: in their order.
        headings: as (place, the headings down to it).
        parts: all texts in their order, as (rule, text): `KEPT`, or the rule that leaves it out.
    """

    title: str
    articles: list[OutlineArticle] = field(default_factory=list)
    headings: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    parts: list[tuple[str, str]] = field(default_factory=list)


def read_outline(lines: Sequence[Line], patterns: LinePatterns, title: str = "") -> Outline:
    """Return the headings and articles of a document.

    Args:
        lines: of the document, none of them blank.
        patterns: of headings and articles, where their style does not show them.
        title: of the document, if its file says it.
    """
    document = divided(lines, patterns)
    preamble, blocks = document.preamble, document.blocks
    _settle_article_words(blocks)
    for part in _with_annexes_apart(blocks):
        _settle_rubrics([blocks[i] for i in part])
        _settle_rubrics_above(part, preamble, blocks)
    _settle_heading_titles(blocks)
    outline = Outline(title)
    _settle_title(outline, document)
    _fill(outline, document.blocks)
    return outline


def _settle_article_words(blocks: Sequence[Block]) -> None:
    """Make headings of the articles that hold others: "Article I" above "Section 1", "Artikel 2" above "§ 1"."""
    words = [
        "" if (of := block.article) is None or of.is_several or of.is_apart else _usual(of.word) for block in blocks
    ]
    holds: dict[str, list[bool]] = {}
    for block, word, below in zip(blocks, words, (*words, "")[1:], strict=True):
        is_above = bool(below) and below != word
        holds.setdefault(word, []).append(is_above and all(is_title_line(line.text) for line in block.body))
    for block, word in zip(blocks, words, strict=True):
        if block.article and word and sum(holds[word]) >= NEARLY_ALL * len(holds[word]):
            name = f"{block.article.word} {block.article.number}"
            block.heading, block.article = HeadingLine(word, name, block.article.rest), None


def _usual(word: str) -> str:
    """Return a word and its abbreviation as one: "Article" and "Art.", "SECTION" and "Sec."."""
    return word.casefold().rstrip(".")[:3]


def _with_annexes_apart(blocks: Sequence[Block]) -> list[list[int]]:
    """Return which blocks are articles of the act, and which of each annex, whose paragraphs seldom have rubrics; none
    that is repealed, for these have none."""
    parts: list[list[int]] = [[]]
    for i, block in enumerate(blocks):
        if block.heading is not None and block.heading.kind == ANNEX:
            parts.append([])
        elif block.article is not None and not (block.text and is_repealed(block.text)):
            parts[-1].append(i)
    return parts


def _settle_rubrics(blocks: Sequence[Block]) -> None:
    """Separate the rubrics from the texts that begin on the line of the number."""
    with_text = [block for block in blocks if block.text]
    are_dashed = 2 * sum(bool(_DASHED.fullmatch(block.text)) for block in with_text) >= len(with_text)
    for block in blocks:
        bracketed = _BRACKETED.fullmatch(block.text) or (_DASHED.fullmatch(block.text) if are_dashed else None)
        if bracketed and _AMENDMENT.search(bracketed["rubric"]):
            bracketed = None
        if block.text and (block.line.level or (block.article and block.article.is_rubric)):
            block.rubric, block.text = block.text, ""
        elif bracketed and (bracketed["text"] or block.body):
            block.rubric, block.text = bracketed["rubric"], bracketed["text"]
    named = [block for block in blocks if not block.rubric and not _is_bare(block.text)]
    named = [block for block in named if not _PARAGRAPH.match(block.text)]
    titles = [block for block in named if block.body and is_title_line(block.text)]
    if _nearly_all(named, _could_be_rubric):
        titles = list(filter(_could_be_rubric, named))
    elif _nearly_all(named, lambda block: _FIRST_SENTENCE.fullmatch(block.text)):
        for match, block in ((_FIRST_SENTENCE.fullmatch(block.text), block) for block in named):
            block.rubric, block.text = (match["rubric"], match["text"]) if match else ("", block.text)
        titles = []
    elif len(titles) < max(MIN_NUMBERS, _MOST_AMONG * len(blocks)):
        titles = []
    for block in titles:
        block.rubric, block.text = block.text, ""
    bare = [block for block in blocks if not block.rubric and block.body and _is_bare(block.text)]
    if len(bare) >= _MOST_BARE * len(blocks) and _nearly_all(bare, _begins_with_rubric):
        for block in filter(_begins_with_rubric, bare):
            block.rubric = block.body.pop(0).text.strip().strip("()")


def _is_bare(text: str) -> bool:
    """Return whether nothing follows the number on its line but what act changed the article."""
    return not text or (text[:1] == "(" and text[-1:] == ")" and bool(_AMENDMENT.search(text)))


def _settle_rubrics_above(part: Sequence[int], preamble: list[Line], blocks: Sequence[Block]) -> None:
    """Take the lines above the numbers for the rubrics, where most articles of a part have one there and none
    elsewhere, or where they are captions: in wide brackets, as in Japanese law."""
    bodies = {i: blocks[i - 1].body if i else preamble for i in part if not blocks[i].rubric}
    above = [i for i, body in bodies.items() if body and _is_rubric_above(body, blocks[i - 1] if i else None)]
    captions = [i for i in above if _CAPTION.fullmatch(bodies[i][-1].text.strip())]
    if len(bodies) >= NEARLY_ALL * len(part) and len(above) >= max(MIN_NUMBERS, _MOST_ABOVE * len(part)):
        captions = above
    for i in captions:
        if bodies[i]:
            blocks[i].rubric = bodies[i].pop().text.strip().strip("()（）")


def _is_rubric_above(body: Sequence[Line], before: Block | None) -> bool:
    """Return whether the last line before an article can be its rubric, and is not the only one below a heading that
    has no title yet, or the title of the act."""
    text = body[-1].text.strip()
    is_title = len(body) == 1 and (before is None or (before.heading is not None and not before.heading.title))
    return is_title_line(text) and (not is_title or text[:1] in "(（")


def _nearly_all(blocks: Sequence[Block], holds: Callable[[Block], object]) -> bool:
    return sum(map(bool, map(holds, blocks))) >= max(1, NEARLY_ALL * len(blocks))


def _could_be_rubric(block: Block) -> bool:
    return bool(block.body) and len(block.text) <= LONGEST_RUBRIC and not block.text.endswith((":", ";", ",", "—"))


def _begins_with_rubric(block: Block) -> bool:
    return len(block.body) > 1 and is_title_line(block.body[0].text)


def _is_title(body: Sequence[Line]) -> bool:
    """Return whether the lines below a heading can be its title: none, or a few short ones."""
    text = " ".join(line.text.strip() for line in body)
    is_short = len(body) <= _MOST_TITLE_LINES and len(text) <= LONGEST_HEADING
    return is_short and not text.endswith((":", ";", ",")) and " | " not in text


def _settle_heading_titles(blocks: list[Block]) -> None:
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
        elif heading.kind == ANNEX and block.body and below is not None:
            block.heading, block.rubric = None, heading.title
            block.article = ArticleLine("", heading.name, "", is_apart=True)
        elif in_annex and block.body and below is not None and below.kind in (heading.kind, ANNEX):
            block.rubric = heading.title or (block.body.pop(0).text.strip() if _begins_with_rubric(block) else "")
            block.article = ArticleLine("", heading.name, "")


def _settle_title(outline: Outline, document: Divided) -> None:
    """Take the only heading of the highest style for the title, or else the first line."""
    top = [block for block in document.blocks if block.line.level == 1]
    preamble = document.preamble
    if top == document.blocks[:1] and top and top[0].is_plain:
        outline.parts.append((METADATA, outline.title))
        outline.title = top[0].title
        outline.headings.append((top[0].line.place, (outline.title,)))
        preamble = [*preamble, *top[0].body]
        del document.blocks[0]
    elif not outline.title and preamble and len(preamble[0].text.strip()) <= LONGEST_HEADING:
        outline.title = " ".join(preamble[0].text.split())
        outline.headings.append((preamble[0].place, (outline.title,)))
        preamble = preamble[1:]
    outline.parts.append((KEPT, outline.title))
    outline.parts += [(PREAMBLE, line.text) for line in preamble]
    outline.parts += [(CONTENTS, line.text) for line in document.contents]


def _fill(outline: Outline, blocks: Sequence[Block]) -> None:
    """Add the articles, each under the headings above it. Text below a heading is an article of its own, but for the
    preamble and the closing words."""
    numbered = [i for i, block in enumerate(blocks) if block.article is not None]
    words = Counter(block.article.word.casefold() for block in blocks if block.article)
    usual = words.most_common(1)[0][0] if words else ""
    above = HeadingStack()
    heads: dict[tuple[str, ...], int] = {}  # the place of each heading among the parts
    met: Counter[str] = Counter()
    for i, block in enumerate(blocks):
        if block.heading is not None:
            above.push(block.heading, _title_of(block), level=block.line.level or block.heading.level)
            outline.headings.append((block.line.place, above.path))
            heads[above.path] = len(outline.parts)
            outline.parts.append((WITHOUT_ARTICLES, _title_of(block)))
        if block.article is None:
            rule = _rule_of_text(block, i, numbered)
            if rule != KEPT:
                outline.parts += [(rule, line.text) for line in block.body]
                continue
            block.article, block.rubric = ArticleLine("", "", ""), _title_of(block)
        if block.article.is_apart and not above.is_apart:
            above = HeadingStack()
        path = above.path[:-1] if block.heading is not None else above.path
        text = "\n".join(filter(None, (block.text, *(line.text.strip() for line in block.body))))
        number, rubric = f"{block.article.word} {block.article.number}".strip(), block.rubric.strip(" .:–—-")
        if block.article.mark:  # one word with the number: "[F12A"
            outline.parts.append((MARKS, f"{block.article.mark}{block.article.number}"))
        if is_repealed(text):
            rule = REPEALED if any(part and is_repealed(part) for part in (text, rubric)) else WITHOUT_TEXT
            outline.parts += [(rule, part) for part in (number, rubric, text)]
            continue
        local_id = _local_id(block.article, usual, rubric)
        met[local_id] += 1
        local_id += f"_{met[local_id]}" if met[local_id] > 1 else ""
        outline.articles.append(OutlineArticle(block.line.place, local_id, number, rubric, text, path))
        outline.parts += [(KEPT, part) for part in (number, rubric, text)]
        for depth in range(1, len(path) + 1):
            if (at := heads.get(path[:depth])) is not None:
                outline.parts[at] = (KEPT, outline.parts[at][1])


def _rule_of_text(block: Block, place: int, numbered: Sequence[int]) -> str:
    """Return the rule that leaves the text below a heading out, `KEPT` if it is an article of its own."""
    if not block.body or not numbered or place < numbered[0]:
        return PREAMBLE
    if len(block.body) <= _MOST_TITLE_LINES and all(is_title_line(line.text) for line in block.body):
        return WITHOUT_ARTICLES  # more of the heading, or one of a lower level
    n_words = sum(len(line.text.split()) for line in block.body)
    return CLOSING if place > numbered[-1] and block.is_plain and n_words < _MOST_CLOSING_WORDS else KEPT


def _title_of(block: Block) -> str:
    """Return a heading as it is written, or its name and the title from the lines below."""
    assert block.heading is not None
    on_line = " ".join(without_page(block.line.text).split())
    name, title = block.heading.name, block.heading.title
    if title in on_line:
        return on_line
    return f"{name} {title}" if name[-1:] >= "\u4e00" else f"{name}. {title}"


def _local_id(article: ArticleLine, usual: str, rubric: str) -> str:
    number = re.sub(r"[\s.]+", "-", article.number.strip(" .º°ª§")).strip("-")
    if article.word.casefold() == usual and number:
        return number
    return re.sub(r"\W+", "-", f"{article.word} {number}".strip() or rubric).strip("-").casefold()[:60] or "article"
