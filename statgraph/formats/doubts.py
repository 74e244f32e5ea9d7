"""What looks wrong in a corpus that was imported without an error, a line for each kind, with the first place."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from statistics import median
from typing import NamedTuple

from statgraph.formats.function_words import FUNCTION_WORDS, known_language
from statgraph.formats.law_words import LinePatterns
from statgraph.law.citations.numbers import numeral_value
from statgraph.law.citations.tables import tables
from statgraph.law.records import Article
from statgraph.law.titles import number_or_title
from statgraph.law.validity import days_in_force

MIN_ARTICLES = 5  # that show what is usual
CONSECUTIVE = 0.9  # of the steps between them
MIN_WORDS = 3
MANY_TIMES = 100  # as long as the median
MIN_LONG_CHARS = 50_000
SAMPLE_WORDS = 20_000
MIN_SAMPLE_WORDS = 200
FITS = 0.5  # of the function words that the best language has
_PLAIN = re.compile(r"(?P<before>\D*)(?P<digits>\d{1,5})[.º°]?(?:\s?§)?")
_CHINESE = re.compile(r"第(?P<numeral>[^\d条條]+)[条條]")
_WORD = re.compile(r"[^\W\d_]+")
# The script of languages that have one of their own, as the range of its letters.
_SCRIPTS = {
    **dict.fromkeys(("zh", "ja", "ko"), ("\u3040", "\ud7ff")),
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "kk"), ("\u0400", "\u04ff")),
    **dict.fromkeys(("ar", "fa", "ur"), ("\u0600", "\u06ff")),
    "el": ("\u0370", "\u03ff"),
    "he": ("\u0590", "\u05ff"),
    "hi": ("\u0900", "\u097f"),
    "th": ("\u0e00", "\u0e7f"),
}


def doubts(
    articles: Sequence[Article], language: str, places: Mapping[str, str], left_out: Collection[int] = ()
) -> list[str]:
    """Return a line for each kind of thing that looks wrong, with how many there are and the first place.

    Args:
        articles: of a corpus, in its order.
        language: ISO 639 code.
        places: where each article was read, by its id.
        left_out: the numbers of articles that are left out as repealed, which are no gaps.
    """
    if len(articles) < MIN_ARTICLES:
        return []
    found: list[str] = []
    by_code: dict[str, list[Article]] = defaultdict(list)
    for article in articles:
        by_code[article.code].append(article)
    gaps = [gap for of_code in by_code.values() for gap in _gaps(of_code, frozenset(left_out))]
    kinds = (
        _swallowed(gaps, language, places),
        _missing(gaps, places),
        _doubled(by_code.values(), places),
        _short(articles, places),
        _long(articles, places),
        language_doubts(articles, language),
    )
    for lines in kinds:
        first = next(lines, None)
        if first is not None:
            more = sum(1 for _ in lines)
            found.append(f"{first}{f', and {more:,} more like it' if more else ''}")
    return found


def _number(article: Article) -> int | None:
    """Return the number of an article if it is a plain one: 36 of "Art. 36", None of "§ 573b"."""
    if plain := _PLAIN.fullmatch(article.number):
        return int(plain["digits"])
    if chinese := _CHINESE.fullmatch(article.number):
        digits, units = (
            {str(key): str(value) for key, value in tables()["zh"][of].items()} for of in ("digits", "units")
        )
        value = numeral_value(chinese["numeral"], digits, units)
        return int(value) if value.isdecimal() else None
    return None


class _Gap(NamedTuple):
    """Numbers that are missing behind an article, up to those of the next one, None behind the last."""

    before: Article
    first: int
    last: int
    after: Article | None

    def named(self, number: int) -> str:
        """Return how the code writes a number: "§ 3"."""
        return re.sub(r"\d+", str(number), self.before.number) if self.before.number[-1:] != "条" else f"第{number}条"


def _gaps(articles: Sequence[Article], left_out: Collection[int]) -> Iterator[_Gap]:
    numbered = [(article, number) for article in articles if (number := _number(article)) is not None]
    steps = [second - first for (_, first), (_, second) in pairwise(numbered)]
    if len(numbered) < MIN_ARTICLES or sum(step in (0, 1) for step in steps) < CONSECUTIVE * len(steps):
        return
    known = {number for _, number in numbered}.union(left_out)
    for (before, first), (after, last) in pairwise(numbered):
        begins_anew = last - first > 10 and last % 100 in (0, 1)  # § 401 behind § 306: the first of chapter 4
        if last > first + 1 and not begins_anew and known.isdisjoint(range(first + 1, last)):
            yield _Gap(before, first + 1, last - 1, after)
    before, number = numbered[-1]
    if number + 1 not in known:
        yield _Gap(before, number + 1, number + 1, None)


def _swallowed(gaps: Sequence[_Gap], language: str, places: Mapping[str, str]) -> Iterator[str]:
    """Yield the articles whose text has a line that begins one of the articles missing behind them."""
    patterns = LinePatterns(language)
    for gap in gaps:
        for line in gap.before.text.split("\n"):
            begun = patterns.article(line)
            if begun and gap.first <= begun.digits <= gap.last:
                holds = f"{gap.before.number} ({places[gap.before.article_id]}) holds a line that may begin an article"
                yield f"{holds} of its own: '{line[:60]}'"
                break


def _missing(gaps: Sequence[_Gap], places: Mapping[str, str]) -> Iterator[str]:
    for gap in gaps:
        if gap.after is not None:
            several = gap.first < gap.last
            missing = (
                f"{gap.named(gap.first)} to {gap.named(gap.last)} are" if several else f"{gap.named(gap.first)} is"
            )
            where = places[gap.after.article_id]
            yield f"{missing} missing between {gap.before.number} and {gap.after.number} ({where})"


def _doubled(codes: Collection[Sequence[Article]], places: Mapping[str, str]) -> Iterator[str]:
    for articles in codes:
        by_number: dict[str, list[Article]] = defaultdict(list)
        for article in articles:
            if article.number:
                by_number["".join(article.number.split()).casefold()].append(article)
        doubled = [of_number for of_number in by_number.values() if len(of_number) > 1]
        first_below: dict[tuple[str, ...], int | None] = {}
        for article in articles if doubled else ():
            for depth in range(1, len(article.path) + 1):
                first_below.setdefault(article.path[:depth], _number(article))
        for of_number in doubled:
            days = sorted((*days_in_force(article.metadata), row) for row, article in enumerate(of_number))
            for (_, end, row), (start, _, other_row) in pairwise(days):
                one, other = (of_number[i] for i in sorted((row, other_row)))
                if start < end and not _restarts(one, other, first_below):
                    where = f"{places[one.article_id]}, {places[other.article_id]}"
                    yield f"two articles of a code have the number {one.number} and no different dates ({where})"
                    break


def _restarts(one: Article, other: Article, first_below: Mapping[tuple[str, ...], int | None]) -> bool:
    """Return whether the later of two articles is below a heading of its own under which numbers begin again."""
    shared = sum(1 for _ in takewhile(lambda titles: titles[0] == titles[1], zip(one.path, other.path, strict=False)))
    return shared < len(other.path) and first_below[other.path[: shared + 1]] in (None, 1)


def _short(articles: Sequence[Article], places: Mapping[str, str]) -> Iterator[str]:
    for article in articles:
        if len(article.text) < 40 and len(article.text.split()) < MIN_WORDS and not _is_long_word(article.text):
            yield f"{number_or_title(article)} has hardly a text ({places[article.article_id]}): '{article.text}'"


def _is_long_word(text: str) -> bool:
    """Return whether a text is a sentence in a script without blanks."""
    return sum(sign >= "\u0e00" for sign in text) > 2 * MIN_WORDS


def _long(articles: Sequence[Article], places: Mapping[str, str]) -> Iterator[str]:
    usual = median(len(article.text) for article in articles)
    for article in articles:
        if (length := len(article.text)) >= max(MIN_LONG_CHARS, MANY_TIMES * usual):
            times, where = f"{length / usual:,.0f} times", places[article.article_id]
            yield f"{number_or_title(article)} has {length:,} characters, {times} as many as usual ({where})"


def language_doubts(articles: Sequence[Article], language: str) -> Iterator[str]:
    """Yield the language whose function words the texts have, if those of the language that was named are rare."""
    language = known_language(language)
    step = max(1, len(articles) // 200)
    words = [word for article in articles[::step] for word in _WORD.findall(article.text[:2_000].casefold())]
    counts = Counter(words[:SAMPLE_WORDS])
    total = counts.total()
    if total < MIN_SAMPLE_WORDS:
        return
    if script := _SCRIPTS.get(language):
        letters = Counter(script[0] <= word[0] <= script[1] for word in words[:SAMPLE_WORDS])
        if letters[True] < letters.total() / 10:
            yield f"the texts are not in the script of language '{language}'"
        return
    shares = {
        name: sum(counts[word] for word in function_words) / total for name, function_words in FUNCTION_WORDS.items()
    }
    best = max(shares, key=shares.__getitem__)
    if language in shares and shares[language] < FITS * shares[best]:
        yield (
            f"the texts read like language '{best}' ({shares[best]:.0%} of their words are among its commonest), not "
            f"'{language}' ({shares[language]:.0%})"
        )
