"""The articles of an act, read from its file one by one.

An article's elements are removed from the tree once it is read, so that a file of any size takes the memory of its
largest article. Nothing outside the file is ever loaded: no DTD, no external entity, no address.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

from lxml import etree

from statgraph.errors import CorpusError, reason_of
from statgraph.formats.acts.documents import Readable
from statgraph.formats.acts.profile import Profile
from statgraph.formats.acts.selectors import Element, Selector, local_name
from statgraph.formats.acts.text import TextReader

CHUNK_BYTES = 1 << 18
_AROUND = " \t\n.:;,–—-"
_DATE = re.compile(r"(?P<y>\d{4})-?(?P<m>\d\d)-?(?P<d>\d\d)|(?P<D>\d\d?)[./](?P<M>\d\d?)[./](?P<Y>\d{4})")
_FIRST_YEAR, _LAST_YEAR = 1100, 2900  # dates outside stand for none
_LANGUAGES = {
    "deu": "de",
    "ger": "de",
    "fra": "fr",
    "fre": "fr",
    "ita": "it",
    "eng": "en",
    "spa": "es",
    "por": "pt",
    "nld": "nl",
    "dut": "nl",
    "pol": "pl",
    "jpn": "ja",
    "fin": "fi",
    "swe": "sv",
    "dan": "da",
    "ces": "cs",
    "ell": "el",
    "est": "et",
    "gle": "ga",
    "hrv": "hr",
    "hun": "hu",
    "lit": "lt",
    "lav": "lv",
    "mlt": "mt",
    "ron": "ro",
    "slk": "sk",
    "slv": "sl",
    "bul": "bg",
    "nor": "no",
    "isl": "is",
    "roh": "rm",
    "cym": "cy",
    "ltz": "lb",
    "zho": "zh",
    "chi": "zh",
    "kor": "ko",
    "ukr": "uk",
    "rus": "ru",
    "tur": "tr",
    "srp": "sr",
}


@dataclass(frozen=True, slots=True)
class ActArticle:
    """An article of an act, before it is part of a corpus.

    `number` ("§ 12", "Section 4"), `rubric` and `text` are as an `Article` has them, `path` holds the headings above it
    without the act's title. `local_id` identifies it within its act. `valid_from` and `valid_to` are ISO dates or "",
    `targets` what its references point to, `line` where it begins in its file. `annex` is the local id of the annex
    that it belongs to, "" for one of the act itself.
    """

    number: str
    rubric: str
    text: str
    path: tuple[str, ...]
    local_id: str
    line: int = 0
    annex: str = ""
    valid_from: str = ""
    valid_to: str = ""
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Act:
    """What a file says of its act: its identifier in all versions, its title, an ISO 639 code, a licence, and the ISO
    date of this version; "" where it does not say it."""

    act_id: str = ""
    title: str = ""
    language: str = ""
    licence: str = ""
    date: str = ""


class FoundHeading(NamedTuple):
    """A heading, the line on which it begins and its depth below the act, from 1."""

    line: int
    depth: int
    title: str


@dataclass(slots=True)
class _Open:
    """An element that is being read: what it may be, the headings among its children, as (level, title), the elements
    in it that are titles and rubrics, and whether all its text is in an article or a title."""

    element: Element
    kinds: tuple[str, ...]
    title: str | None = None
    titles: list[Element] = field(default_factory=list)
    is_read: bool = False
    siblings: list[tuple[int, str]] = field(default_factory=list)
    n_articles: int = 0
    local_id: str = ""


@dataclass(slots=True)
class OutsidePlace:
    """Text in elements of one name: the line of the first, how many there are, and their characters."""

    line: int
    n_elements: int = 0
    n_chars: int = 0


class OutsideText:
    """Counts the text that is in no article (preambles, a chapter's own paragraphs, closing words), by the selector of
    the elements it is in, such as `preamble/p`."""

    def __init__(self) -> None:
        self.places: dict[str, OutsidePlace] = {}

    @property
    def n_chars(self) -> int:
        """Return how many characters there are."""
        return sum(place.n_chars for place in self.places.values())

    def add(self, element: Element, passes_over: Callable[[Element], bool]) -> None:
        """Count the text left in an element whose articles are read and cleared, without what is passed over."""
        if passes_over(element):
            return
        if not any(text.strip() for text in (element.text or "", *(child.tail or "" for child in element))):
            for child in element:
                self.add(child, passes_over)
            return
        above = element.getparent()
        name = local_name(element) if above is None else f"{local_name(above)}/{local_name(element)}"
        place = self.places.setdefault(name, OutsidePlace(element.sourceline or 0))
        place.n_elements += 1
        place.n_chars += len(" ".join("".join(_texts(element, passes_over)).split()))


def _texts(element: Element, passes_over: Callable[[Element], bool]) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if not passes_over(child):
            yield from _texts(child, passes_over)
        yield child.tail or ""


# The keys of a profile whose elements the reader stops at, in the order in which they are asked.
_LEAVE_OUT, _QUOTED, _ANNEX = "leave_out", "quoted", "annexes.elements"
_ARTICLE, _BEGINS = "articles.elements", "articles.begins"
_HEADING, _SIBLING, _CONTINUED = "headings.elements", "headings.siblings", "headings.continued_by"
_KEYS = (_LEAVE_OUT, _QUOTED, _ARTICLE, _BEGINS, _ANNEX, _CONTINUED, _SIBLING, _HEADING)


class ActReader:
    """Iterates over the articles of one file; what else there is to know is complete when they are all read.

    Args:
        stream: the file, open for reading bytes.
        profile: of its format.
        place: its name, for messages.

    Attributes:
        act: what the file says of the act; empty before the first article.
        headings: every heading, in order.
        left_out: how many elements of each name were left out.
        repealed: how many articles had no text, and are left out.
        quoted: how many articles stand inside a quotation or another article, and are text.
        outside: the text that is in no article.
    """

    def __init__(self, stream: Readable, profile: Profile, place: str):
        self._stream, self._profile, self._place = stream, profile, place
        self.text = TextReader(profile)
        self.act = Act()
        self.headings: list[FoundHeading] = []
        self.left_out: Counter[str] = Counter()
        self.repealed = 0
        self.quoted = 0
        self.outside = OutsideText()
        self._rules: dict[str, list[tuple[Selector, str]]] = {}
        for key in _KEYS:
            for selector in profile.selectors(key):
                self._rules.setdefault(selector.name, []).append((selector, key))
        self._kinds: dict[str, tuple[str, ...]] = {}  # by tag, where nothing else decides
        self._root: Element | None = None
        self._knows_act = False
        self._base = _Open(None, ())
        self._depth = dict.fromkeys(_KEYS, 0)  # how many open elements each key names
        self._open: list[_Open] = [self._base]
        self._begun: Element | None = None
        self._empty = profile.patterns("empty")

    def __iter__(self) -> Iterator[ActArticle]:
        """Yield the articles.

        Raises:
            CorpusError: if the file is not well-formed, or tries to expand entities without measure.
        """
        is_html = self._profile.settings.syntax == "html"
        events = etree.iterparse(
            self._stream,
            events=("start", "end"),
            tag=[f"{{*}}{name}" for name in self._rules],
            html=is_html,
            encoding="utf-8" if is_html else None,  # which HTML rarely declares as its parser wants it
            load_dtd=False,
            no_network=True,
            resolve_entities="internal",
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
            chunk_size=CHUNK_BYTES,
        )
        try:
            for event, element in events:
                ended = self._start(element) if event == "start" else self._end(element)
                if ended:
                    yield from ended
            self._root = events.root if self._root is None else self._root
        except etree.XMLSyntaxError as error:
            line = f":{error.lineno}" if error.lineno else ""
            raise CorpusError(f"{self._place}{line}: {_xml_problem(error)}") from None
        yield from self._close_begun(None)
        self._learn_act(self._root)
        self._base.element = self._root
        self._count_outside(self._base)

    def act_or(self, name: str) -> Act:
        """Return what the file says of its act, with a name for an id or a title that it does not say."""
        return replace(self.act, act_id=self.act.act_id or name, title=self.act.title or self.act.act_id or name)

    def _start(self, element: Element) -> tuple[ActArticle, ...]:
        """Open an element, and return the articles that end with it."""
        kinds = self._kinds_of(element)
        if self._root is None:
            self._root = element.getroottree().getroot()
        ended: tuple[ActArticle, ...] = ()
        if self._begun is not None and not {_ANNEX, _HEADING, _SIBLING, _ARTICLE}.isdisjoint(kinds):
            ended = tuple(self._close_begun(element))
        if _ANNEX in kinds and _ARTICLE not in kinds:
            self._open[-1].siblings.clear()  # they are of what came before
        self._open.append(_Open(element, kinds))
        for kind in kinds:
            self._depth[kind] += 1
        return ended

    def _kinds_of(self, element: Element) -> tuple[str, ...]:
        """Return the keys of the profile that name an element."""
        kinds = self._kinds.get(element.tag)
        if kinds is None:
            rules = self._rules.get(local_name(element), [])
            kinds = tuple(key for selector, key in rules if selector.fits(element))
            if all(selector.is_name for selector, _ in rules):
                self._kinds[element.tag] = kinds
        return kinds

    def _end(self, element: Element) -> tuple[ActArticle, ...]:
        """Close an element, and return the articles that end with it; clear what is read."""
        ended: tuple[ActArticle, ...] = ()
        if self._begun is not None and not {_ANNEX, _HEADING}.isdisjoint(self._open[-1].kinds):
            ended = tuple(self._close_begun(None))  # which is in this element
        closed = self._open.pop()
        kinds, depth = closed.kinds, self._depth
        for kind in kinds:
            depth[kind] -= 1
        if not kinds:
            self._open[-1].titles += closed.titles
            return ()
        if _LEAVE_OUT in kinds:
            self.left_out[local_name(element)] += not depth[_LEAVE_OUT]
            self._clear(element, unless=depth[_ARTICLE] or depth[_BEGINS])
            return ()
        if depth[_LEAVE_OUT] or depth[_QUOTED] or depth[_ARTICLE] or _QUOTED in kinds:
            self.quoted += _ARTICLE in kinds and not depth[_LEAVE_OUT]
            return ()
        ended += self._ended(closed)
        if _BEGINS not in kinds:
            self._count_outside(closed)
            self._clear(element)
        return ended

    def _ended(self, closed: _Open) -> tuple[ActArticle, ...]:
        """Return the articles that a closed element is; keep it in mind if it is a heading."""
        element, kinds = closed.element, closed.kinds
        if _ARTICLE in kinds and self._holds("articles.when", element):
            closed.is_read = True
            return tuple(self._article(element, self._found("articles.id", element)))
        if _BEGINS in kinds and self._holds("articles.when", element):
            ended = tuple(self._close_begun(element))
            self._begun = element
            return ended
        if _ANNEX in kinds and self._holds("annexes.when", element):
            if _ARTICLE in kinds:
                self._open[-1].siblings.clear()  # they are of what came before
            return tuple(self._loose(closed))
        if _CONTINUED in kinds:
            self._continue_heading(element)
            closed.is_read = True
        elif _SIBLING in kinds and self._holds("headings.when", element):
            self._add_sibling(closed)
        elif _HEADING in kinds:
            self._title(closed)
            if self._depth[_ANNEX]:
                return tuple(self._loose(closed))
        elif _ARTICLE in kinds:
            self.left_out[local_name(element)] += 1
        return ()

    def _clear(self, element: Element, *, unless: object = False) -> None:
        """Free what is inside an element that has ended, once the act is known; its name and attributes stay."""
        if self._knows_act and not unless:
            element.text = None
            del element[:]

    def _count_outside(self, closed: _Open) -> None:
        """Count the text of an element that is in no article and no title.

        Before the act is known, nothing is cleared, and it is left to what is around the element.
        """
        if self._knows_act and not closed.is_read and closed.element is not None:
            titles = set(closed.titles)
            self.outside.add(closed.element, lambda one: one in titles or _LEAVE_OUT in self._kinds_of(one))
        elif self._open:
            self._open[-1].titles += [closed.element] if closed.is_read else closed.titles

    def _holds(self, key: str, element: Element) -> bool:
        condition = self._profile.value(key)
        return not condition or bool(condition.text(element, self.text.line))

    def _found(self, key: str, element: Element) -> str:
        return self._profile.value(key).text(element, self.text.line)

    # Headings

    def _path(self) -> tuple[str, ...]:
        """Return the headings above what is being read."""
        containers = [outer for outer in self._open if _HEADING in outer.kinds or _ANNEX in outer.kinds]
        for outer in containers:
            self._title(outer)  # may add to the headings of those around it
        path: list[str] = []
        for outer in (self._base, *containers):
            path += [outer.title] if outer.title else []
            path += [title for _, title in outer.siblings if title]
        return tuple(path)

    def _title(self, opened: _Open) -> str:
        """Return the title of an open heading or annex, found when it is first needed: its children then are there."""
        if opened.title is None:
            kind = "annexes" if _ANNEX in opened.kinds else "headings"
            opened.title, titles = self._heading_text(opened.element, kind)
            opened.titles += titles
            parts = self._split(opened.title)
            if kind == "headings" and parts:
                above = self._open[self._open.index(opened) - 1] if opened in self._open else self._open[-1]
                opened.title = ""
                for level, title in parts:
                    self._set_level(above.siblings, level, title)
                    self._record(opened.element, title)
            elif opened.title:
                self._record(opened.element, opened.title)
        return opened.title

    def _named(self, element: Element, kind: str, title_key: str = "title") -> tuple[str, str, list[Element]]:
        """Return (number, title, the elements that they are the text of)."""
        number, used = self._profile.value(f"{kind}.number").find(element, self.text.line)
        title, used_title = self._profile.value(f"{kind}.{title_key}").find(element, self.text.line)
        return number.strip(_AROUND), title, used + used_title

    def _heading_text(self, element: Element, kind: str) -> tuple[str, list[Element]]:
        """Return (number and title, the elements that they are the text of)."""
        number, title, used = self._named(element, kind)
        return " ".join(f"{number} {title}".split()), used

    def _split(self, title: str) -> list[tuple[int, str]]:
        """Return the headings that one text holds with their levels, by the words of the profile."""
        words = self._profile.settings.headings.words
        if not words or not title:
            return []
        named = "|".join(re.escape(word) for word in words)
        starts = [match.start() for match in re.finditer(rf"(?i)(?<!\w)(?:{named})(?=\s+(?:[IVXLC]+\b|\d))", title)]
        if not starts or starts[0] > 0:
            return []
        parts = [title[start:end].strip() for start, end in zip(starts, [*starts[1:], len(title)], strict=True)]
        lowered = [word.lower() for word in words]
        return [
            (next(level for level, word in enumerate(lowered, start=1) if part.lower().startswith(word)), part)
            for part in parts
        ]

    @staticmethod
    def _set_level(siblings: list[tuple[int, str]], level: int, title: str) -> None:
        siblings[:] = [(other, text) for other, text in siblings if other < level]
        siblings.append((level, title))

    def _add_sibling(self, closed: _Open) -> None:
        title, titles = self._heading_text(closed.element, "headings")
        closed.titles += titles
        self._set_level(self._open[-1].siblings, self._level(closed.element), title)
        self._record(closed.element, title)

    def _level(self, element: Element) -> int:
        found = self._found("headings.level", element)
        digits = self._profile.settings.headings.digits
        if digits:
            return max(1, len(found) // digits)
        if found.isdecimal():
            return int(found)
        selectors = self._profile.selectors("headings.siblings")
        return next((level for level, selector in enumerate(selectors, start=1) if selector.matches(element)), 1)

    def _continue_heading(self, element: Element) -> None:
        siblings = self._open[-1].siblings
        if siblings and self.headings:
            level, title = siblings[-1]
            siblings[-1] = (level, f"{title} {self.text.line(element)}".strip())
            self.headings[-1] = self.headings[-1]._replace(title=siblings[-1][1])

    def _record(self, element: Element, title: str) -> None:
        depth = sum(bool(outer.title) + len([title for _, title in outer.siblings if title]) for outer in self._open)
        self.headings.append(FoundHeading(element.sourceline or 0, max(depth, 1), title))

    # Articles

    def _article(self, element: Element, local_id: str, whole: Element | None = None) -> Iterator[ActArticle]:
        self._learn_act(whole if whole is not None else element)
        path = self._path()
        number, rubric, used = self._named(element, "articles", "rubric")
        word = self._profile.settings.articles.word
        annex = self._annex()
        if word and number[:1].isdigit() and not annex:
            number = f"{word} {number}"
        self._open[-1].titles += [one for one in used if one.getparent() is not element]
        text, targets = self.text.lines(element, set(used))
        valid_from, valid_to = (iso_date(self._found(f"articles.{key}", element)) for key in ("valid_from", "valid_to"))
        article = ActArticle(
            number=number,
            rubric=rubric.rstrip(_AROUND),
            text=text,
            path=path,
            local_id=local_id or number,
            line=(whole if whole is not None else element).sourceline or 0,
            annex=annex,
            valid_from=valid_from,
            valid_to=valid_to,
            targets=tuple(targets),
        )
        yield from self._kept(article, element, bool(self._found("articles.repealed", element)))

    def _kept(self, article: ActArticle, element: Element, is_repealed: bool) -> Iterator[ActArticle]:
        for outer in self._open:
            outer.n_articles += 1
        text = article.text
        if is_repealed or not text or any(pattern.fullmatch(text) for pattern in self._empty):
            self.repealed += 1
            return
        changed = self._profile.hook(article, element) if self._profile.hook else article
        if changed is not None:
            yield changed

    def _annex(self) -> str:
        """Return the local id of the annex that is open, "" where none is."""
        if not self._depth[_ANNEX]:
            return ""
        return next(self._annex_id(outer) for outer in self._open if _ANNEX in outer.kinds)

    def _annex_id(self, opened: _Open) -> str:
        if not opened.local_id:
            found = self._found("annexes.id", opened.element)
            opened.local_id = found or self._found("annexes.number", opened.element) or self._title(opened) or "annex"
        return opened.local_id

    def _loose(self, closed: _Open) -> Iterator[ActArticle]:
        """Yield what an annex, or a heading in one, is as an article if no article was in it."""
        element = closed.element
        self._title(closed)
        if not closed.n_articles:
            closed.is_read = True
            self._learn_act(element)
            kind = "annexes" if _ANNEX in closed.kinds else "headings"
            number, title, used = self._named(element, kind)
            text, targets = self.text.lines(element, set(used))
            path = self._path()
            local_id = self._annex_id(closed) if kind == "annexes" else number or title
            line, annex = element.sourceline or 0, self._annex()
            article = ActArticle(number, title, text, path, local_id, line, annex, targets=tuple(targets))
            if text:
                yield from self._kept(article, element, False)

    def _close_begun(self, following: Element | None) -> Iterator[ActArticle]:
        """Yield the article that an element began: itself and what follows it among its siblings."""
        begun, self._begun = self._begun, None
        if begun is None:
            return
        stop = {following, *following.iterancestors()} if following is not None else set()
        whole, read = etree.Element(local_name(begun)), [begun]
        whole.append(deepcopy(begun))
        for sibling in begun.itersiblings():
            if sibling in stop:
                break
            whole.append(deepcopy(sibling))
            read.append(sibling)
        yield from self._article(whole, self._found("articles.id", whole), whole=begun)
        for element in read:
            self._clear(element)
            element.tail = None

    def _learn_act(self, element: Element | None) -> None:
        """Read what the file says of its act, once: when the first article is there, and all that precedes it."""
        if self._knows_act or element is None:
            return
        self._knows_act = True
        root = element.getroottree().getroot()
        root.set("file", PurePosixPath(self._place).name)
        values = {key: self._profile.value(f"act.{key}") for key in ("id", "title", "language", "licence", "date")}
        both = {key: value.find(root, self.text.line) for key, value in values.items()}
        self._base.titles += [one for _, used in both.values() for one in used]
        found = {key: text for key, (text, _) in both.items()}
        self.act = Act(
            act_id=" ".join(found["id"].split()),
            title=found["title"],
            language=language_code(found["language"]),
            licence=found["licence"],
            date=iso_date(found["date"]),
        )


def _xml_problem(error: etree.XMLSyntaxError) -> str:
    """Return what is wrong with a file and what to do about it, in one line."""
    problem = re.sub(r", line \d+, column \d+.*", "", reason_of(error))
    if entity := re.search(r"Entity '(\S+)' not defined", problem):
        return (
            f"entity '&{entity[1]};' has no text in this file, and nothing outside it is loaded; "
            "expand it first, such as with xmllint --loaddtd --noent"
        )
    return f"not well-formed XML ({problem}); download it again, or correct it there"


def root_of(head: bytes) -> Element | None:
    """Return the root element of a file that begins so, without what is in it; None if it is no XML."""
    parser = etree.XMLPullParser(("start",), load_dtd=False, no_network=True, resolve_entities=False)
    with suppress(etree.XMLSyntaxError):  # further on; the root may have been read
        parser.feed(head)
    return next((element for _, element in parser.read_events()), None)


def iso_date(text: str) -> str:
    """Return the day that a text begins with as an ISO date: "20240131", "2024-01-31T00:00", "31.01.2024"; "" for none,
    and for those that stand for "always" and "never"."""
    match = _DATE.match(text.strip())
    if not match:
        return ""
    year, month, day = (int(match[a] or match[b]) for a, b in (("y", "Y"), ("m", "M"), ("d", "D")))
    try:
        return date(year, month, day).isoformat() if _FIRST_YEAR <= year < _LAST_YEAR else ""
    except ValueError:
        return ""


def language_code(text: str) -> str:
    """Return the ISO 639 code of "ita", "en-US", "EN" or an address that ends in one; "" for anything else."""
    last = re.split(r"[/#_\-]", text.strip().lower())
    code = last[-1] if "/" in text else last[0]
    code = _LANGUAGES.get(code, code)
    return code if re.fullmatch("[a-z]{2,3}", code) else ""
