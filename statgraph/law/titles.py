"""The number and the rubric that an article's title holds: "§ 573b BGB Teilkündigung" is § 573b, Teilkündigung."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from statgraph.law.records import AnyArticle, Article

_BARE_NUMBER = re.compile(r"[A-Za-z]{0,2}[.\s*]*\d(?!.*[§条條])")  # not 第190条
MIN_TITLES = 3  # of a code, that show how it names its articles
NEARLY_ALL = 0.9

_LATIN = (
    r"(?i:bis|ter|qu[aá]ter|(?:un|duo|ter|quater|quin|quinquies|sex|septen|septies|octo|novo)?-?(?:decies|vicies)|"
    r"quinquies|sexies|septies|octies|nonies|novies)"
)
_RAISED = r"[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]"
# Digits with letters and brackets between them, as in 12-3-102.5, 240.10b-5 and 1.401(a)-1; then what is added:
# 1er, 2.º, 22¹, 573b, 28/A, 3AAA, 5-bis, 1609 nonies C, 44 sexies-0 A.
NUMBER = (
    r"第\s*[零〇一二三四五六七八九十百千两\d]+\s*[条條](?:[之の][零〇一二三四五六七八九十百千\d]+)*|"
    r"(?:[^\W\d_]{1,2}[.\s*]{0,3})?"
    r"\d+(?:(?:[a-zA-Z]{1,2}|\([a-z]{1,2}\))?[-–.:/]\d+)*"
    rf"(?:\.?[ºª°]|er\b|ère\b|o\b\.(?=-[A-Z]\b))?(?:{_RAISED}+|\^\d+|\(\d+\)(?=\.(?:\s|$)))?"
    rf"(?:/[A-Z]\b|-?(?:[^\W\d_]|[a-d]{{2,3}}|[A-Z]{{2,4}})\b)?(?:\s?-?{_LATIN}\b(?:-\d+|(?:\.\d+)+|\s\d+(?=\W*$|[.:]))?)?"
    r"(?:\s[A-Z]{1,2}(?=\s*(?:$|[.,:;(\[–—])))?(?:\s[a-z](?=\s+[^a-z\s]|\W*$|[,:;]|\.(?!\w)))?(?!\w)|[IVXLCDM]+\b"
)
_TITLE = re.compile(rf"(?P<number>(?P<word>§{{1,2}}|[^\W\d_]{{2,}}\.?)?\s*(?:{NUMBER})(?:\s?§)?)(?P<rest>.*)")
_ABBREVIATION = re.compile(r"(?=(?:\w*[A-ZÄÖÜ]){2})[^\W\d_]{2,12}\b")  # BGB, StGB, UrhG
_WORD = re.compile(r"[^\W\d_]{3}|[㐀-鿿]{2}")
_BETWEEN = " ,.:;–—-"


def full_title(article: AnyArticle) -> str:
    """Return an article's citation with its rubric behind it, unless the citation holds that."""
    said = article.rubric.casefold() in article.title.casefold()
    return article.title if said else f"{article.title} – {article.rubric}"


def number_or_title(article: AnyArticle) -> str:
    """Return an article's number, with "Art." in front of a bare one; its title where the number is not known."""
    return f"Art. {article.number}" if _BARE_NUMBER.match(article.number) else article.number or article.title


def with_title_parts(articles: Iterable[Article]) -> list[Article]:
    """Return the articles with the numbers and rubrics that their titles hold.

    An article that has a rubric is left as it is. A number that was given is replaced only by its longer form: "L12-3"
    by "Art. L12-3". Titles without any digit are the rubrics, and ids such as "Art. 12" the numbers.
    """
    articles = list(articles)
    rows_of_code: dict[str, list[int]] = {}
    for row, article in enumerate(articles):
        rows_of_code.setdefault(article.code, []).append(row)
    for code, rows in rows_of_code.items():
        # An article without a title has its id there.
        titles = ["" if (of := articles[row]).title == of.article_id else of.title for row in rows]
        if _are_rubrics(titles, code) and not any(articles[row].rubric for row in rows):
            ids = title_parts([articles[row].article_id for row in rows], code)
            for row, rubric, (number, _) in zip(rows, titles, ids, strict=True):
                articles[row] = _with_rubric(articles[row], rubric, number)
            continue
        given = [articles[row].number for row in rows]
        for row, (number, rubric) in zip(rows, title_parts(titles, code, given), strict=True):
            if not articles[row].rubric:
                articles[row] = replace(articles[row], number=number, rubric=rubric)
    return articles


def title_parts(titles: Sequence[str], code: str, given: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return the number and the rubric of each title of a code, "" for what it lacks.

    Numbers are known where nearly all titles begin with one behind the same word, or behind the code and that word; one
    that was given is replaced only by its longer form. The rubric is the rest of a title, or all of one that begins
    otherwise, without the code, by its title or an abbreviation that nearly all have. Words that nearly all titles have
    there are no rubric.
    """
    given = given or [""] * len(titles)
    bare = [title.removeprefix(code).lstrip(_BETWEEN) for title in titles]
    matches = [_TITLE.fullmatch(title) for title in bare]
    words = [(match["word"] or "").lower().rstrip(".") if match else None for match in matches]
    word, count = Counter(words).most_common(1)[0] if titles else (None, 0)
    knows_numbers = word is not None and count >= max(MIN_TITLES, NEARLY_ALL * len(titles))
    numbered = [match if knows_numbers and own == word else None for match, own in zip(matches, words, strict=True)]
    rests = [
        title.removeprefix(number) if number and title.startswith(number) else match["rest"] if match else title
        for match, title, number in zip(numbered, bare, given, strict=True)
    ]
    rubrics = [" ".join(rest.split()) if _is_rubric(rest) else "" for rest in _without_code(rests, code)]
    shared = Counter(re.sub(r"\d", "", rubric) for rubric in rubrics)
    enough = max(MIN_TITLES, NEARLY_ALL * len(titles))
    rubrics = ["" if shared[re.sub(r"\d", "", rubric)] >= enough else rubric for rubric in rubrics]
    numbers = [match["number"] if match else "" for match in numbered]
    longer = [number if number.endswith(known) else known for number, known in zip(numbers, given, strict=True)]
    return list(zip(longer, rubrics, strict=True))


def _is_rubric(rest: str) -> bool:
    """Return whether what is left of a title has words: not "B", the end of a number, nor "Annex II"."""
    alone = _TITLE.fullmatch(rest)
    return bool(_WORD.search(rest)) and not (alone and not alone["rest"].strip(_BETWEEN))


def _are_rubrics(titles: Sequence[str], code: str) -> bool:
    """Return whether nearly all titles are words of the article's own: without a digit, the code, or each other's."""
    stated = [title for title in titles if re.search(r"[^\W\d_]{2}", title) and not re.search(r"\d", title)]
    stated = [title for title in stated if code not in title]
    enough = max(MIN_TITLES, NEARLY_ALL * len(titles))
    return len(stated) >= enough and len(set(stated)) >= NEARLY_ALL * len(stated)


def _with_rubric(article: Article, rubric: str, number_in_id: str) -> Article:
    """Return an article whose title is its rubric; the number that its id seems to hold counts if it is written as laws
    write it: "Art. 12", not "RNT12"."""
    number = article.number or (number_in_id if re.search(r"\s|§", number_in_id) else "")
    cited = f"{number}, {article.code}" if number else article.title
    return replace(article, title=cited, number=number, rubric=rubric)


def _without_code(rests: Sequence[str], code: str) -> list[str]:
    """Return what follows the numbers without the code that it begins with, and without what stands between."""
    code = code.strip(_BETWEEN)
    rests = [rest.strip(_BETWEEN).removeprefix(code).removesuffix(code).strip(_BETWEEN) for rest in rests]
    first = Counter(match[0] for match in map(_ABBREVIATION.match, rests) if match).most_common(1)
    if first and first[0][1] >= NEARLY_ALL * sum(map(bool, rests)):
        rests = [rest.removeprefix(first[0][0]).strip(_BETWEEN) for rest in rests]
    return rests
